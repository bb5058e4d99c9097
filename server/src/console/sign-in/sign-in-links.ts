import { randomBytes, randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import type { Db, Tx } from '../../db/kysely.ts';
import type { KeyRing } from '../../secrets/key-ring.ts';
import { isProven, prove } from '../../secrets/proofs.ts';
import {
  factsOfLink,
  isProvenOperator,
  lockOperator,
  provenOperatorColumns,
  proveOperator,
} from '../accounts/proofs.ts';
import type { Role } from '../accounts/roles.ts';
import { act, NotPossible } from '../audit/act.ts';
import { recordActivity } from '../audit/activity.ts';
import { hashPassword } from './password.ts';
import { hashOfSession, type Session, startSession, timeIn } from './sessions.ts';

/** Minutes. */
export const linkMinutes = 5;

interface Wanted {
  readonly name: string;
  /** Creates the account if there is none, without a password. */
  readonly role?: Role | undefined;
}

/**
 * Why there is no link. `unknown`: no account has the name. `disabled`: the account is. `unproven`: no gateway has made it as it is.
 */
type NoLink = 'unknown' | 'disabled' | 'unproven';

/** Makes a link for an account. Returns its token, which is not stored, or why there is none. */
export async function makeSignInLink(
  db: Db,
  keys: KeyRing,
  { name, role }: Wanted,
): Promise<{ token: string } | NoLink> {
  const token = randomBytes(32).toString('base64url');
  const result = await act(db, undefined, { action: 'sign_in_link', target: name }, async (tx) => {
    const found = await lockOperator(tx, keys, name);
    if (found && !found.isProven) throw new NotPossible('unproven');
    if (found?.row.disabled_at) throw new NotPossible('disabled');
    const id = found?.row.id ?? (role && (await createAccount(tx, keys, name, role)));
    if (!id) throw new NotPossible('unknown');
    const expires_at = await timeIn(tx, sql`make_interval(mins => ${linkMinutes})`);
    const row = { token_hash: hashOfSession(token), operator_id: id, expires_at };
    await tx
      .insertInto('operator_sign_in_links')
      .values({ ...row, sealed_proof: prove(keys, 'sign-in link', factsOfLink(row)) })
      .execute();
  });
  return result instanceof NotPossible ? (result.reason as NoLink) : { token };
}

/** An account whose password nobody knows. `operators reset` gives it one, with one-time codes. */
async function createAccount(tx: Tx, keys: KeyRing, name: string, role: Role): Promise<string> {
  const id = randomUUID();
  const password_hash = await hashPassword(randomBytes(32).toString('base64url'));
  await tx.insertInto('operators').values({ id, name, role, password_hash, sealed_totp_secret: null }).execute();
  await proveOperator(tx, keys, id);
  return id;
}

/**
 * Signs in with a link, which is used up. Returns `undefined` if it has expired or was used, if the account is disabled, or if no
 * gateway has made the link or the account as it is.
 *
 * @param address of the caller, for the activity list
 */
export function signInByLink(
  { db, keys }: { readonly db: Db; readonly keys: KeyRing },
  token: string,
  { address, hours }: { readonly address: string; readonly hours: number },
): Promise<Session | undefined> {
  return db.transaction().execute(async (tx) => {
    const link = await tx
      .deleteFrom('operator_sign_in_links')
      .where('token_hash', '=', hashOfSession(token))
      .where('expires_at', '>', sql<Date>`clock_timestamp()`)
      .returningAll()
      .executeTakeFirst();
    if (!link || !isProven(keys, 'sign-in link', factsOfLink(link), link.sealed_proof)) return undefined;
    const account = await tx
      .updateTable('operators')
      .set({ last_sign_in_at: sql<Date>`clock_timestamp()` })
      .where('id', '=', link.operator_id)
      .where('disabled_at', 'is', null)
      .returning(provenOperatorColumns)
      .executeTakeFirst();
    if (!account || !isProvenOperator(keys, account)) return undefined;
    const { id: operatorId, name, role } = account;
    await recordActivity(tx, { operator: name, action: 'sign_in', target: address, outcome: 'done' });
    return startSession(tx, keys, { operatorId, name, role, hours });
  });
}
