import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import type { Db } from '../db/kysely.ts';
import type { KeyRing } from '../secrets/key-ring.ts';
import { recordActivity } from './activity.ts';
import { forgetFailures } from './failed-sign-ins.ts';
import { hashPassword } from './password.ts';
import type { Role } from './roles.ts';
import { enrolmentUri, newTotpSecret } from './totp.ts';

/** The operator of the command line in the activity list. */
export const commandLine = 'command line';

/** A name is no e-mail address, so that the tables of the gateway contain none. */
export const operatorNamePattern = /^[a-z0-9][a-z0-9._-]{0,62}$/;

/** An account as it is listed. */
export interface ListedOperator {
  readonly name: string;
  readonly role: Role;
  readonly hasTotp: boolean;
  readonly isDisabled: boolean;
  readonly createdAt: Date;
}

interface NewSecrets {
  readonly name: string;
  readonly password: string;
}

/** What an encrypted secret is bound to. */
export function totpContext(id: string): string {
  return `operator ${id}`;
}

/** Creates an account. Returns its enrolment URI, which is not shown again, or `undefined` if the name is taken. */
export async function createOperator(
  db: Db,
  keys: KeyRing,
  { name, role, password }: NewSecrets & { readonly role: Role },
): Promise<string | undefined> {
  const id = randomUUID();
  const secret = newTotpSecret();
  const password_hash = await hashPassword(password);
  const sealed_totp_secret = keys.seal('operator', secret, totpContext(id));
  const isCreated = await db.transaction().execute(async (tx) => {
    const { numInsertedOrUpdatedRows } = await tx
      .insertInto('operators')
      .values({ id, name, role, password_hash, sealed_totp_secret })
      .onConflict((conflict) => conflict.column('name').doNothing())
      .executeTakeFirst();
    if (numInsertedOrUpdatedRows !== 1n) return false;
    await recordActivity(tx, { operator: commandLine, action: 'account_create', target: name, outcome: 'done' });
    return true;
  });
  return isCreated ? enrolmentUri(secret, name) : undefined;
}

/**
 * Gives an account a new password and new one-time codes, enables it, and ends its sessions. Returns its enrolment URI, or
 * `undefined` if there is no such account.
 */
export async function resetOperator(
  db: Db,
  keys: KeyRing,
  { name, password }: NewSecrets,
): Promise<string | undefined> {
  const found = await db.selectFrom('operators').select('id').where('name', '=', name).executeTakeFirst();
  if (!found) return undefined;
  const secret = newTotpSecret();
  const password_hash = await hashPassword(password);
  const sealed_totp_secret = keys.seal('operator', secret, totpContext(found.id));
  await db.transaction().execute(async (tx) => {
    await tx
      .updateTable('operators')
      .set({ password_hash, sealed_totp_secret, last_totp_step: null, disabled_at: null })
      .where('id', '=', found.id)
      .execute();
    await tx.deleteFrom('operator_sessions').where('operator_id', '=', found.id).execute();
    await forgetFailures(tx, keys, name);
    await recordActivity(tx, { operator: commandLine, action: 'account_reset', target: name, outcome: 'done' });
  });
  return enrolmentUri(secret, name);
}

/** Changes the role of an account, also for its open sessions. Returns `false` if no account has this name. */
export function changeRole(db: Db, name: string, role: Role): Promise<boolean> {
  return db.transaction().execute(async (tx) => {
    const { numUpdatedRows } = await tx
      .updateTable('operators')
      .set({ role })
      .where('name', '=', name)
      .executeTakeFirst();
    if (numUpdatedRows === 0n) return false;
    await recordActivity(tx, {
      operator: commandLine,
      action: 'account_role',
      target: `${name} ${role}`,
      outcome: 'done',
    });
    return true;
  });
}

/** Disables an account and ends its sessions. Returns `false` if no enabled account has this name. */
export function disableOperator(db: Db, name: string): Promise<boolean> {
  return db.transaction().execute(async (tx) => {
    const disabled = await tx
      .updateTable('operators')
      .set({ disabled_at: sql<Date>`clock_timestamp()` })
      .where('name', '=', name)
      .where('disabled_at', 'is', null)
      .returning('id')
      .executeTakeFirst();
    if (!disabled) return false;
    await tx.deleteFrom('operator_sessions').where('operator_id', '=', disabled.id).execute();
    await recordActivity(tx, { operator: commandLine, action: 'account_disable', target: name, outcome: 'done' });
    return true;
  });
}

/** All accounts, by name. */
export async function listOperators(db: Db): Promise<ListedOperator[]> {
  const rows = await db
    .selectFrom('operators')
    .select(['name', 'role', 'disabled_at', 'created_at', sql<boolean>`sealed_totp_secret IS NOT NULL`.as('has_totp')])
    .orderBy('name')
    .execute();
  return rows.map(({ name, role, has_totp, disabled_at, created_at }) => ({
    name,
    role,
    hasTotp: has_totp,
    isDisabled: disabled_at !== null,
    createdAt: created_at,
  }));
}
