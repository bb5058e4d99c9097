import type { ScheduleOperations } from '@crossward/connector-kit';
import type { ServerFacts } from '../capability-statement.ts';
import type { FhirConnection } from '../connection.ts';
import type { BookingMode } from '../settings.ts';
import { addScheduleException, endSchedule } from './change.ts';
import { createSchedule, findScheduleWrite } from './create.ts';
import { extendSchedules } from './extend.ts';
import { findSchedule, listSchedules } from './read.ts';
import { withdrawSchedule } from './withdraw.ts';

/**
 * Every server's schedules can be read. They are written where a setting says so, and the server runs transactions and
 * lets Schedules and Slots be written.
 */
export function scheduleOperations(
  ehr: FhirConnection,
  mode: BookingMode,
  facts: ServerFacts,
): Partial<ScheduleOperations> {
  const reads: Partial<ScheduleOperations> = {
    listSchedules: (query) => listSchedules(ehr, query),
    findSchedule: (careUnit, resourceId, id) => findSchedule(ehr, careUnit, resourceId, id),
  };
  if (!writesSchedules(ehr, mode, facts)) return reads;
  return {
    ...reads,
    createSchedule: (write) => createSchedule(ehr, write),
    endSchedule: (write) => endSchedule(ehr, write),
    addScheduleException: (write) => addScheduleException(ehr, write),
    findScheduleWrite: (careUnit, id) => findScheduleWrite(ehr, careUnit, id),
    withdrawSchedule: (careUnit, id) => withdrawSchedule(ehr, careUnit, id),
    extendSchedules: (careUnit) => extendSchedules(ehr, careUnit),
  };
}

export function writesSchedules({ settings }: FhirConnection, mode: BookingMode, facts: ServerFacts): boolean {
  const can = (type: string) => facts.can(type, 'create') && facts.can(type, 'update');
  return settings.schedules?.write === true && mode === 'transaction' && can('Schedule') && can('Slot');
}
