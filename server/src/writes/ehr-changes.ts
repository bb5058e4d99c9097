import type { Appointment } from '@crossward/connector-kit';
import type { EhrConnection } from '../ehr/connection.ts';
import type { EhrWrite } from './ehr-write.ts';
import { oneByOne } from './one-by-one.ts';

/**
 * All changes or none. Safe to call again with the same operation id where the EHR knows operations: what is done stays
 * done, once.
 */
export async function changeAppointments(write: EhrWrite): Promise<readonly Appointment[]> {
  const { ehr, careUnit, operationId, changes } = write;
  if (isWhole(ehr, changes)) {
    return ehr.call('changeAppointments', { operationId, careUnit, changes });
  }
  return oneByOne(write);
}

/** Whether the EHR can be asked what it has done under an operation id, and does nothing twice under one. */
export function knowsOperations(ehr: EhrConnection): boolean {
  return ehr.offers('findOperation');
}

/** Whether the EHR does the changes all or nothing; else they are done one by one, and undone on a failure. */
export function isWhole(ehr: EhrConnection, changes: readonly unknown[]): boolean {
  const { transactions, changesPerTransaction = Number.POSITIVE_INFINITY } = ehr.capabilities;
  return changes.length <= (transactions ? changesPerTransaction : 1);
}
