import type { Selectable } from 'kysely';
import type { Tx } from '../../db/kysely.ts';
import type { ConsoleTables } from '../../db/tables/console.ts';
import type { KeyRing } from '../../secrets/key-ring.ts';
import { type Facts, isProven, prove } from '../../secrets/proofs.ts';

/** The columns that say who an operator is and what opens the account, with the proof of them. */
export const provenOperatorColumns = [
  'id',
  'name',
  'role',
  'password_hash',
  'sealed_totp_secret',
  'disabled_at',
  'sealed_proof',
] as const;

export type ProvenOperatorRow = Pick<Selectable<ConsoleTables['operators']>, (typeof provenOperatorColumns)[number]>;
export type ProvenSessionRow = Omit<Selectable<ConsoleTables['operator_sessions']>, 'created_at' | 'last_used_at'>;
export type ProvenLinkRow = Selectable<ConsoleTables['operator_sign_in_links']>;

/** What the proof of an account is about. The step of its last one-time code is not: it changes with each sign-in. */
export function factsOfOperator({
  id,
  name,
  role,
  password_hash,
  sealed_totp_secret,
  disabled_at,
}: ProvenOperatorRow): Facts {
  return { id, name, role, password_hash, sealed_totp_secret, isDisabled: disabled_at !== null };
}

/** What the proof of a session is about. */
export function factsOfSession(row: Omit<ProvenSessionRow, 'sealed_proof'>): Facts {
  const { token_hash, operator_id, subject_hash, name, role, expires_at } = row;
  return { token_hash, operator_id, subject_hash, name, role, expires_at };
}

/** What the proof of a link is about. */
export function factsOfLink({ token_hash, operator_id, expires_at }: Omit<ProvenLinkRow, 'sealed_proof'>): Facts {
  return { token_hash, operator_id, expires_at };
}

/** Whether a gateway has made the account as it is. Otherwise nobody signs in with it. */
export function isProvenOperator(keys: KeyRing, row: ProvenOperatorRow): boolean {
  return isProven(keys, 'operator', factsOfOperator(row), row.sealed_proof);
}

/** Reads an account, locks it until the end of the transaction, and says whether it is proven. */
export async function lockOperator(
  tx: Tx,
  keys: KeyRing,
  name: string,
): Promise<{ readonly row: ProvenOperatorRow; readonly isProven: boolean } | undefined> {
  const row = await tx
    .selectFrom('operators')
    .select(provenOperatorColumns)
    .where('name', '=', name)
    .forUpdate()
    .executeTakeFirst();
  return row && { row, isProven: isProvenOperator(keys, row) };
}

/** Proves an account as it is in the transaction, which has locked and checked it, or made it. */
export async function proveOperator(tx: Tx, keys: KeyRing, id: string): Promise<void> {
  const row = await tx
    .selectFrom('operators')
    .select(provenOperatorColumns)
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
  await tx
    .updateTable('operators')
    .set({ sealed_proof: prove(keys, 'operator', factsOfOperator(row)) })
    .where('id', '=', id)
    .execute();
}
