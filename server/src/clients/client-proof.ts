import { createHash } from 'node:crypto';
import type { Selectable } from 'kysely';
import type { Tx } from '../db/kysely.ts';
import type { ClientTables } from '../db/tables/clients.ts';
import type { KeyRing } from '../secrets/key-ring.ts';
import { type Facts, isProven, prove, textOfFacts } from '../secrets/proofs.ts';

/** The columns that say who a client is and what it may do, with the proof of them. */
export const provenClientColumns = [
  'id',
  'name',
  'scopes',
  'grants',
  'return_urls',
  'budgets',
  'version',
  'secret_hash',
  'previous_secret_hash',
  'previous_secret_expires_at',
  'earlier_secrets',
  'jwks',
  'jwks_uri',
  'revoked_at',
  'sealed_proof',
] as const;

export type ProvenClientRow = Pick<Selectable<ClientTables['clients']>, (typeof provenClientColumns)[number]>;

/** What the proof of a client is about. */
export function factsOfClient({ sealed_proof: _, revoked_at, ...row }: ProvenClientRow): Facts {
  const facts = Object.fromEntries(
    provenClientColumns.flatMap((name) => (name in row ? [[name, row[name as keyof typeof row]]] : [])),
  );
  return { ...facts, isRevoked: revoked_at !== null };
}

/** Whether a gateway has made the row as it is. Otherwise it opens nothing. */
export function isProvenClient(keys: KeyRing, row: ProvenClientRow): boolean {
  return isProven(keys, 'client', factsOfClient(row), row.sealed_proof);
}

/** Names a state of a client: changes with everything that its proof is about. */
export function stateOfClient(row: ProvenClientRow): string {
  return createHash('sha256')
    .update(textOfFacts(factsOfClient(row)))
    .digest('hex')
    .slice(0, 20);
}

/** Proves a client as it is in the transaction, which has locked and checked it, or made it. */
export async function proveClient(tx: Tx, keys: KeyRing, id: string): Promise<void> {
  const row = await tx.selectFrom('clients').select(provenClientColumns).where('id', '=', id).executeTakeFirstOrThrow();
  await tx
    .updateTable('clients')
    .set({ sealed_proof: prove(keys, 'client', factsOfClient(row)) })
    .where('id', '=', id)
    .execute();
}
