import type { EhrConnection } from '../../ehr/connection.ts';

/** Whether the EHR makes these changes in one transaction. If not, they are made in sequence, with compensation on failure. */
export function isAtomic(ehr: EhrConnection, changes: readonly unknown[]): boolean {
  const { transactions, changesPerTransaction = Number.POSITIVE_INFINITY } = ehr.capabilities;
  return changes.length <= (transactions ? changesPerTransaction : 1);
}
