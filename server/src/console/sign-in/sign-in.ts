import { sql } from 'kysely';
import type { Tx } from '../../db/kysely.ts';
import { operatorNamePattern } from '../accounts/operators.ts';
import { recordActivity, unknownName } from '../audit/activity.ts';
import { acceptProof, type CredentialServices, checkCode, readAccount } from './credentials.ts';
import { type Attempt, countSignIn, forgiveSignIn, takeBackSignIn } from './failed-sign-ins.ts';
import { isPassword } from './password.ts';
import { type Session, startSession } from './sessions.ts';

interface Credentials {
  readonly name: string;
  readonly password: string;
  readonly code: string;
  /** The address of the caller, for the activity list. */
  readonly address: string;
  /** The address that limits count by: see `callerOf`. */
  readonly network: string;
  /** See `knownBrowser`. */
  readonly browser?: string | undefined;
}

export interface FailedSignIn {
  /** Whether an account has the name. For log and metric only: the browser must not learn it. */
  readonly isAccount: boolean;
  /** Too many failures, the credentials were not checked. 0: they were, and are wrong. */
  readonly waitSeconds: number;
}

/**
 * Signs in with an account of the gateway. Does the same work for an unknown name, a wrong password and a wrong code, and
 * does not say which it was.
 */
export async function signIn(
  services: CredentialServices,
  { name: givenName, password, code, address, network, browser }: Credentials,
  checkPassword = isPassword,
): Promise<Session | FailedSignIn> {
  const { db, keys, settings } = services;
  // Nobody has the empty name. Others, such as one with a NUL, PostgreSQL would reject.
  const name = operatorNamePattern.test(givenName) ? givenName : '';
  const isKnownBrowser = browser !== undefined;
  const attempt: Attempt = { name, source: isKnownBrowser ? { browser } : { address: network } };
  const counted = await db.transaction().execute(async (tx) => {
    const waitSeconds = await countSignIn(tx, keys, attempt);
    return { waitSeconds, ...(await recordRejected(tx, { name, address, isChecked: waitSeconds === 0 })) };
  });
  const rejected = { isAccount: counted.isAccount, waitSeconds: counted.waitSeconds };
  if (counted.waitSeconds > 0) return rejected;
  const account = await readAccount(db, keys, name);
  const isRight = await checkPassword(password, account?.password_hash, { isStranger: !isKnownBrowser }).catch(
    async (error: unknown) => {
      // Nothing was checked, such as under overload, so nothing counts.
      await db.transaction().execute(async (tx) => {
        await takeBackSignIn(tx, keys, attempt);
        await sql`DELETE FROM operator_activity WHERE id = ${counted.activityId} AND chain_id IS NULL`.execute(tx);
      });
      throw error;
    },
  );
  const proof = account && isRight && checkCode(services, account, code);
  if (!proof) return rejected;
  return db.transaction().execute(async (tx) => {
    if (!(await acceptProof(tx, keys, proof))) return rejected;
    await forgiveSignIn(tx, keys, attempt);
    const { numAffectedRows } = await sql`
      UPDATE operator_activity SET outcome = 'done' WHERE id = ${counted.activityId} AND chain_id IS NULL`.execute(tx);
    // The check took so long that the row is linked as it was.
    if (numAffectedRows === 0n) {
      await recordActivity(tx, { operator: name, action: 'sign_in', target: address, outcome: 'done' });
    }
    await sql`UPDATE operators SET last_sign_in_at = clock_timestamp() WHERE id = ${account.id}`.execute(tx);
    return startSession(tx, keys, {
      operatorId: account.id,
      name: account.name,
      role: account.role,
      hours: settings.session_hours,
    });
  });
}

/** Entries of unknown names in an hour, so that guesses cannot fill the list: of all addresses, and one of each. */
const mostOfUnknownNames = 100;

/**
 * Records a sign-in as rejected before it is checked: it then takes the same time for an account that exists. A name that
 * no account has is not stored, because people type passwords and numbers of patients into the wrong field.
 */
async function recordRejected(
  tx: Tx,
  { name, address, isChecked }: { readonly name: string; readonly address: string; readonly isChecked: boolean },
): Promise<{ readonly isAccount: boolean; readonly activityId: string | null }> {
  const { rows } = await sql<{ isAccount: boolean; activityId: string | null }>`
    WITH typed AS (SELECT EXISTS (SELECT FROM operators WHERE name = ${name}) AS is_account),
    unknown AS (
      SELECT target FROM operator_activity
      WHERE operator_name = ${unknownName} AND at > clock_timestamp() - interval '1 hour'),
    entry AS (
      INSERT INTO operator_activity (operator_name, action, target, outcome)
      SELECT CASE WHEN is_account THEN ${name} ELSE ${unknownName} END, 'sign_in', ${address}, 'rejected' FROM typed
      WHERE ${isChecked} AND (is_account OR (
        (SELECT count(*) FROM unknown) < ${mostOfUnknownNames}
        AND NOT EXISTS (SELECT FROM unknown WHERE target = ${address})))
      RETURNING id::text)
    SELECT is_account AS "isAccount", (SELECT id FROM entry) AS "activityId" FROM typed`.execute(tx);
  const [row = { isAccount: false, activityId: null }] = rows;
  return row;
}
