import { sql } from 'kysely';
import type { Tx } from '../../db/kysely.ts';
import type { KeyRing } from '../../secrets/key-ring.ts';
import {
  type EmrFacts,
  openRow,
  type SecretsByName,
  type StoredEmr,
  sealSecrets,
  selectStored,
} from './stored-emrs.ts';

/** Stores an EHR. Returns `false`, and changes nothing, if one has the id. */
export async function insertEmr(tx: Tx, keys: KeyRing, facts: EmrFacts, secrets: SecretsByName): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await tx
    .insertInto('stored_emrs')
    .values({ id: facts.id, ...columns(keys, facts, secrets) })
    .onConflict((conflict) => conflict.column('id').doNothing())
    .executeTakeFirst();
  if (numInsertedOrUpdatedRows !== 1n) return false;
  await revise(tx);
  return true;
}

/** The EHR, which nobody else changes until the transaction ends. */
export async function lockEmr(tx: Tx, keys: KeyRing, id: string): Promise<StoredEmr | undefined> {
  const row = await selectStored(tx).where('id', '=', id).forUpdate().executeTakeFirst();
  return row && openRow(keys, row);
}

/** Replaces an EHR that is locked. */
export async function replaceEmr(tx: Tx, keys: KeyRing, facts: EmrFacts, secrets: SecretsByName): Promise<void> {
  await tx
    .updateTable('stored_emrs')
    .set({
      ...columns(keys, facts, secrets),
      version: sql<string>`gen_random_uuid()`,
      changed_at: sql<Date>`now()`,
    })
    .where('id', '=', facts.id)
    .execute();
  await revise(tx);
}

/** Removes an EHR that is locked. */
export async function deleteEmr(tx: Tx, id: string): Promise<void> {
  await tx.deleteFrom('stored_emrs').where('id', '=', id).execute();
  await revise(tx);
}

function columns(keys: KeyRing, { id, definition: given, isOpen }: EmrFacts, secrets: SecretsByName) {
  const definition = JSON.stringify(given);
  // Authenticated as it will be read.
  const facts = { id, isOpen, definition: JSON.parse(definition) as unknown };
  return { definition, is_open: isOpen, sealed_secrets: sealSecrets(keys, facts, secrets) };
}

/** Tells the gateways, when the transaction commits, to read the stored EHRs again. */
async function revise(tx: Tx): Promise<void> {
  await sql`
    INSERT INTO stored_emrs_revision (revision) VALUES (gen_random_uuid())
    ON CONFLICT (is_only) DO UPDATE SET revision = excluded.revision`.execute(tx);
}
