import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import type { Db, Tx } from '../../db/kysely.ts';
import type { KeyRing } from '../../secrets/key-ring.ts';
import { act, NotPossible } from '../audit/act.ts';
import { forgetFailures } from '../sign-in/failed-sign-ins.ts';
import { hashPassword } from '../sign-in/password.ts';
import type { Session } from '../sign-in/sessions.ts';
import { enrolmentUri, newTotpSecret, totpContext } from '../sign-in/totp.ts';
import { isProvenOperator, lockOperator, provenOperatorColumns, proveOperator } from './proofs.ts';
import type { Role } from './roles.ts';

/** A name is no e-mail address, so that the tables of the gateway contain none. */
export const operatorNamePattern = /^[a-z0-9][a-z0-9._-]{0,62}$/;

/** An account as it is listed. */
export interface ListedOperator {
  readonly id: string;
  readonly name: string;
  readonly role: Role;
  readonly hasTotp: boolean;
  readonly isDisabled: boolean;
  readonly createdAt: Date;
  /** `null`: none. */
  readonly lastSignInAt: Date | null;
}

/** Which account, and who acts. */
interface Target {
  readonly name: string;
  /** Default: the command line. */
  readonly by?: Session;
}

interface NewSecrets extends Target {
  readonly password: string;
}

interface Demotion extends Target {
  /** Whether to leave at least one account that is an admin and enabled. */
  readonly keepsAdmin?: boolean;
}

/**
 * `unknown`: there is no such account. `last_admin`: nothing was changed, to keep an admin. `unproven`: no gateway has
 * made it as it is, and only a reset with a role helps.
 */
type Changed = 'done' | 'unknown' | 'not_enabled' | 'last_admin' | 'unproven';

/** No gateway has made the account as it is, so its role must be decided anew. */
export class UnprovenAccount extends Error {}

/** Creates an account. Returns its enrolment URI, which is not shown again, or `undefined` if the name is taken. */
export async function createOperator(
  db: Db,
  keys: KeyRing,
  { name, role, password, by }: NewSecrets & { readonly role: Role },
): Promise<string | undefined> {
  const id = randomUUID();
  const secret = newTotpSecret();
  const password_hash = await hashPassword(password);
  const sealed_totp_secret = keys.seal('operator', secret, totpContext(id));
  const result = await act(db, by, { action: 'account_create', target: name }, async (tx) => {
    const { numInsertedOrUpdatedRows } = await tx
      .insertInto('operators')
      .values({ id, name, role, password_hash, sealed_totp_secret })
      .onConflict((conflict) => conflict.column('name').doNothing())
      .executeTakeFirst();
    if (numInsertedOrUpdatedRows !== 1n) throw new NotPossible('taken');
    await proveOperator(tx, keys, id);
  });
  return result instanceof NotPossible ? undefined : enrolmentUri(secret, name);
}

/**
 * Gives an account a new password and new one-time codes, enables it, and ends its sessions and links. Returns its enrolment URI, or
 * `undefined` if there is no such account.
 *
 * @param role a new role; one that no gateway has made as it is needs it
 * @throws {UnprovenAccount} if it has none
 */
export async function resetOperator(
  db: Db,
  keys: KeyRing,
  { name, password, role, by }: NewSecrets & { readonly role?: Role | undefined },
): Promise<string | undefined> {
  const found = await db.selectFrom('operators').select('id').where('name', '=', name).executeTakeFirst();
  if (!found) return undefined;
  const secret = newTotpSecret();
  const password_hash = await hashPassword(password);
  const sealed_totp_secret = keys.seal('operator', secret, totpContext(found.id));
  const result = await act(db, by, { action: 'account_reset', target: name }, async (tx) => {
    const locked = await lockOperator(tx, keys, name);
    if (!locked || locked.row.id !== found.id) throw new NotPossible('unknown');
    if (!locked.isProven && !role) throw new NotPossible('unproven');
    await tx
      .updateTable('operators')
      .set({ password_hash, sealed_totp_secret, last_totp_step: null, disabled_at: null, ...(role && { role }) })
      .where('id', '=', found.id)
      .execute();
    await proveOperator(tx, keys, found.id);
    await endAccess(tx, found.id);
    await forgetFailures(tx, keys, name);
  });
  if (!(result instanceof NotPossible)) return enrolmentUri(secret, name);
  if (result.reason === 'unproven') throw new UnprovenAccount();
  return undefined;
}

/** Changes the role of an account, also for its open sessions. */
export async function changeRole(
  db: Db,
  keys: KeyRing,
  { name, role, by, keepsAdmin = false }: Demotion & { readonly role: Role },
): Promise<Changed> {
  const result = await act(db, by, { action: 'account_role', target: `${name} ${role}` }, async (tx) => {
    if (keepsAdmin && role !== 'admin' && (await isLastAdmin(tx, keys, name))) throw new NotPossible('last_admin');
    const locked = await lockOperator(tx, keys, name);
    if (!locked) throw new NotPossible('unknown');
    if (!locked.isProven) throw new NotPossible('unproven');
    await tx.updateTable('operators').set({ role }).where('id', '=', locked.row.id).execute();
    await proveOperator(tx, keys, locked.row.id);
  });
  return changed(result);
}

/** Disables an enabled account, also one that is not proven, and ends its sessions and links. */
export async function disableOperator(
  db: Db,
  keys: KeyRing,
  { name, by, keepsAdmin = false }: Demotion,
): Promise<Changed> {
  const result = await act(db, by, { action: 'account_disable', target: name }, async (tx) => {
    if (keepsAdmin && (await isLastAdmin(tx, keys, name))) throw new NotPossible('last_admin');
    const locked = await lockOperator(tx, keys, name);
    if (!locked || locked.row.disabled_at) throw new NotPossible('not_enabled');
    const { id } = locked.row;
    await tx.updateTable('operators').set({ disabled_at: sql<Date>`clock_timestamp()` }).where('id', '=', id).execute();
    if (locked.isProven) await proveOperator(tx, keys, id);
    await endAccess(tx, id);
  });
  return changed(result);
}

/** Ends the sessions of an account and its links. One that is being used waits for the account, so it is left to that. */
async function endAccess(tx: Tx, operatorId: string): Promise<void> {
  await tx.deleteFrom('operator_sessions').where('operator_id', '=', operatorId).execute();
  await sql`
    DELETE FROM operator_sign_in_links WHERE token_hash = ANY (ARRAY(
      SELECT token_hash FROM operator_sign_in_links WHERE operator_id = ${operatorId} FOR UPDATE SKIP LOCKED))`.execute(
    tx,
  );
}

function changed(result: unknown): Changed {
  return result instanceof NotPossible ? (result.reason as Changed) : 'done';
}

/** Whether no other enabled account is an admin. Locks the admins: two that disable each other do not both succeed. */
async function isLastAdmin(tx: Tx, keys: KeyRing, name: string): Promise<boolean> {
  const locked = await tx
    .selectFrom('operators')
    .select(provenOperatorColumns)
    .where('role', '=', 'admin')
    .where('disabled_at', 'is', null)
    .orderBy('id')
    .forUpdate()
    .execute();
  const admins = locked.filter((row) => isProvenOperator(keys, row));
  return admins.length === 1 && admins[0]?.name === name;
}

/** All accounts, by name. */
export async function listOperators(db: Db): Promise<ListedOperator[]> {
  const rows = await db
    .selectFrom('operators')
    .select([
      'id',
      'name',
      'role',
      'last_sign_in_at',
      'disabled_at',
      'created_at',
      sql<boolean>`sealed_totp_secret IS NOT NULL`.as('has_totp'),
    ])
    .orderBy('name')
    .execute();
  return rows.map(({ id, name, role, last_sign_in_at, has_totp, disabled_at, created_at }) => ({
    id,
    name,
    role,
    hasTotp: has_totp,
    isDisabled: disabled_at !== null,
    createdAt: created_at,
    lastSignInAt: last_sign_in_at,
  }));
}
