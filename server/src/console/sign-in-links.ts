import { randomBytes, randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import type { Db, Tx } from '../db/kysely.ts';
import { act, NotPossible } from './act.ts';
import { recordActivity } from './activity.ts';
import { hashPassword } from './password.ts';
import type { Role } from './roles.ts';
import { hashOfSession, type Session, startSession } from './sessions.ts';

/** Minutes. */
export const linkMinutes = 5;

interface Wanted {
  readonly name: string;
  /** Creates the account if there is none, without a password. */
  readonly role?: Role | undefined;
}

/** Why there is no link. `unknown`: no account has the name. `disabled`: the account is. */
type NoLink = 'unknown' | 'disabled';

/** Makes a link for an account. Returns its token, which is not stored, or why there is none. */
export async function makeSignInLink(db: Db, { name, role }: Wanted): Promise<{ token: string } | NoLink> {
  const token = randomBytes(32).toString('base64url');
  const result = await act(db, undefined, { action: 'sign_in_link', target: name }, async (tx) => {
    const found = (await findAccount(tx, name)) ?? (role && (await createAccount(tx, name, role)));
    if (!found) throw new NotPossible('unknown');
    if (found.disabled_at) throw new NotPossible('disabled');
    await tx
      .insertInto('operator_sign_in_links')
      .values({
        token_hash: hashOfSession(token),
        operator_id: found.id,
        expires_at: sql<Date>`clock_timestamp() + make_interval(mins => ${linkMinutes})`,
      })
      .execute();
  });
  return result instanceof NotPossible ? (result.reason as NoLink) : { token };
}

function findAccount(tx: Tx, name: string) {
  return tx
    .selectFrom('operators')
    .select(['id', 'disabled_at'])
    .where('name', '=', name)
    .forUpdate()
    .executeTakeFirst();
}

/** An account whose password nobody knows. `operators reset` gives it one, with one-time codes. */
async function createAccount(tx: Tx, name: string, role: Role) {
  const password_hash = await hashPassword(randomBytes(32).toString('base64url'));
  return tx
    .insertInto('operators')
    .values({ id: randomUUID(), name, role, password_hash, sealed_totp_secret: null })
    .returning(['id', 'disabled_at'])
    .executeTakeFirstOrThrow();
}

/**
 * Signs in with a link, which is used up. Returns `undefined` if it has expired or was used, or the account is disabled.
 *
 * @param address of the caller, for the activity list
 */
export function signInByLink(
  db: Db,
  token: string,
  { address, hours }: { readonly address: string; readonly hours: number },
): Promise<Session | undefined> {
  return db.transaction().execute(async (tx) => {
    const { rows } = await sql<{ id: string; name: string; role: Role }>`
      WITH used AS (
        DELETE FROM operator_sign_in_links
        WHERE token_hash = ${hashOfSession(token)} AND expires_at > clock_timestamp() RETURNING operator_id)
      UPDATE operators SET last_sign_in_at = clock_timestamp() FROM used
      WHERE operators.id = used.operator_id AND disabled_at IS NULL
      RETURNING operators.id, name, role`.execute(tx);
    const [account] = rows;
    if (!account) return undefined;
    const { id: operatorId, name, role } = account;
    await recordActivity(tx, { operator: name, action: 'sign_in', target: address, outcome: 'done' });
    return startSession(tx, { operatorId, name, role, hours });
  });
}
