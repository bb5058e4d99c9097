import type { Tx } from '../../db/kysely.ts';
import type { OperationKind } from '../../operations/kind.ts';
import { releaseHolds } from './release-holds.ts';

/** Confirmations whose time is over, and what the EHR holds for them. */
export interface ExpiryPlan {
  readonly confirmationIds: readonly string[];
  readonly holds: readonly string[];
}

/** Gives up holds that have run out. It waits for nobody, and is tried until the EHR has done it. */
export const expiryKind: OperationKind<ExpiryPlan, void> = {
  name: 'expiry',
  isRepeatable: true,
  asksEhr: ({ holds }) => holds.length > 0,
  codesFor: () => [],
  perform: (work, { holds }) => releaseHolds(work, holds),
  lookUp: async () => 'nothing',
  undo: async () => undefined,
  remembers: () => true,
  answer: () => ({ body: {} }),
  async record(tx, _work, { confirmationIds }) {
    await markExpired(tx, confirmationIds);
    return { body: {} };
  },
  letGo: async () => undefined,
};

export async function markExpired(tx: Tx, confirmationIds: readonly string[]): Promise<void> {
  await tx
    .updateTable('confirmation_items')
    .set({ state: 'expired' })
    .where('confirmation_id', 'in', [...confirmationIds])
    .where('state', '=', 'expiring')
    .execute();
}
