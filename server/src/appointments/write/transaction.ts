import type { EhrConnection } from '../../ehr/connection.ts';

/** Whether the EHR does the changes all or nothing; else they are done one by one, and undone on a failure. */
export function isWhole(ehr: EhrConnection, changes: readonly unknown[]): boolean {
  const { transactions, changesPerTransaction = Number.POSITIVE_INFINITY } = ehr.capabilities;
  return changes.length <= (transactions ? changesPerTransaction : 1);
}
