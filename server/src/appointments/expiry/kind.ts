import { sql } from 'kysely';
import { expireItems } from '../../confirmations/issue.ts';
import type { Tx } from '../../db/kysely.ts';
import type { WriteKind } from '../../writes/write-kind.ts';
import { releaseHolds } from './release-holds.ts';

/** Expired confirmations and their holds in the EHR. */
export interface ExpiryPlan {
  readonly confirmationIds: readonly string[];
  readonly holds: readonly string[];
}

/** Releases expired holds. Has no caller, and is repeated until the EHR succeeds. */
export const expiryKind: WriteKind<ExpiryPlan, void> = {
  name: 'expiry',
  isRepeatable: true,
  callsEhr: ({ holds }) => holds.length > 0,
  // Found with the holds.
  patientsOf: () => [],
  findsById: (ehr) => ehr.offers('findOperation'),
  perform: (work, { holds }) => releaseHolds(work, holds),
  lookUp: async () => 'nothing',
  compensate: async () => undefined,
  hasRecords: () => true,
  respond: () => ({ body: {} }),
  async record(tx, _work, { confirmationIds }) {
    await markExpired(tx, confirmationIds);
    return { body: {} };
  },
  drop: (tx, writeId) => expireItems(tx, sql`operation_id = ${writeId} AND state = 'expiring'`),
};

export async function markExpired(tx: Tx, confirmationIds: readonly string[]): Promise<void> {
  await expireItems(tx, sql`confirmation_id = ANY(${[...confirmationIds]}::uuid[]) AND state = 'expiring'`);
}
