import { sql } from 'kysely';
import type { ConsoleSettings } from '../config/console-settings.ts';
import type { Db, Tx } from '../db/kysely.ts';
import type { KeyRing } from '../secrets/key-ring.ts';
import { countSignIn, forgiveSignIn, takeBackSignIn } from './failed-sign-ins.ts';
import { operatorNamePattern, totpContext } from './operators.ts';
import { isPassword } from './password.ts';
import type { Role } from './roles.ts';
import { type Session, startSession } from './sessions.ts';
import { stepOfCode } from './totp.ts';

interface Services {
  readonly db: Db;
  readonly keys: KeyRing;
  readonly settings: ConsoleSettings;
}

interface Credentials {
  readonly name: string;
  readonly password: string;
  readonly code: string;
  /** The address that limits count by: see `callerOf`. */
  readonly address: string;
}

/** `waitSeconds`: too many failures, the credentials were not checked. */
type SignedIn = Session | 'rejected' | { readonly waitSeconds: number };

interface Account {
  readonly id: string;
  readonly name: string;
  readonly role: Role;
  readonly password_hash: string;
  readonly sealed_totp_secret: Buffer | null;
  readonly last_totp_step: string | null;
}

/**
 * Signs in with an account of the gateway. Does the same work for an unknown name, a wrong password and a wrong code, and
 * does not say which it was.
 */
export async function signIn(
  services: Services,
  { name: givenName, password, code, address }: Credentials,
  checkPassword = isPassword,
): Promise<SignedIn> {
  const { db, keys, settings } = services;
  // Nobody has the empty name. Others, such as one with a NUL, PostgreSQL would reject.
  const name = operatorNamePattern.test(givenName) ? givenName : '';
  const counted = await db.transaction().execute(async (tx) => {
    const waitSeconds = await countSignIn(tx, keys, { name, address });
    // Recorded before it is checked: it then takes the same time for an account that exists.
    const { rows } = await sql<{ id: string }>`
      INSERT INTO operator_activity (operator_name, action, outcome)
      SELECT name, 'sign_in', 'rejected' FROM operators WHERE name = ${name} AND ${waitSeconds} = 0
      RETURNING id::text`.execute(tx);
    return { waitSeconds, activityId: rows[0]?.id };
  });
  if (counted.waitSeconds > 0) return { waitSeconds: counted.waitSeconds };
  const account = await db
    .selectFrom('operators')
    .select(['id', 'name', 'role', 'password_hash', 'sealed_totp_secret', 'last_totp_step'])
    .where('name', '=', name)
    .where('disabled_at', 'is', null)
    .executeTakeFirst();
  const isRight = await checkPassword(password, account?.password_hash).catch(async (error: unknown) => {
    // Nothing was checked, such as under overload, so nothing counts.
    await db.transaction().execute(async (tx) => {
      await takeBackSignIn(tx, keys, { name, address });
      await sql`DELETE FROM operator_activity WHERE id = ${counted.activityId}`.execute(tx);
    });
    throw error;
  });
  if (!account || !isRight || !(await acceptCode(services, account, code))) return 'rejected';
  return db.transaction().execute(async (tx) => {
    if (!(await isUnchanged(tx, account))) return 'rejected';
    await forgiveSignIn(tx, keys, { name, address });
    await sql`UPDATE operator_activity SET outcome = 'done' WHERE id = ${counted.activityId}`.execute(tx);
    return startSession(tx, {
      operatorId: account.id,
      name: account.name,
      role: account.role,
      hours: settings.session_hours,
    });
  });
}

/** Locks the account until its session exists. Returns whether it was neither disabled nor reset since it was read. */
async function isUnchanged(tx: Tx, { id, password_hash }: Account): Promise<boolean> {
  const found = await tx
    .selectFrom('operators')
    .select('id')
    .where('id', '=', id)
    .where('password_hash', '=', password_hash)
    .where('disabled_at', 'is', null)
    .forUpdate()
    .executeTakeFirst();
  return found !== undefined;
}

/** Accepts a one-time code once, even if it is sent twice at the same time. Only the demo's account has none. */
async function acceptCode({ db, keys, settings }: Services, account: Account, code: string): Promise<boolean> {
  const { id, password_hash, sealed_totp_secret, last_totp_step } = account;
  if (!sealed_totp_secret) return settings.demoOperator?.name === account.name;
  const secret = keys.openBytes('operator', sealed_totp_secret, totpContext(id));
  const step = secret && stepOfCode(secret, code.replace(/\s/g, ''), Number(last_totp_step ?? 0), Date.now());
  if (!secret || step === undefined) return false;
  const { numAffectedRows } = await sql`
    UPDATE operators SET last_totp_step = ${step},
      -- Under the newest secret key, so that older ones can be removed.
      sealed_totp_secret = ${keys.seal('operator', secret, totpContext(id))}
    -- A reset in between has replaced the password and the secret.
    WHERE id = ${id} AND password_hash = ${password_hash} AND coalesce(last_totp_step, 0) < ${step}`.execute(db);
  return numAffectedRows === 1n;
}
