import { type CareUnit, ConnectorError, type ScheduleOperations } from '@crossward/connector-kit';
import { type FhirSchedule, referenceTo } from '../fhir.ts';
import { ownScheduleOf } from '../mappers/schedule.ts';
import type { ServerFacts } from '../server/capability-statement.ts';
import type { FhirConnection } from '../server/connection.ts';
import type { BookingMode, FhirSettings } from '../settings.ts';
import { addScheduleException, endSchedule } from './change.ts';
import { createSchedule, findScheduleWrite } from './create.ts';
import { grow, horizonOf, isDue } from './grow.ts';
import { findSchedule, listSchedules } from './read.ts';
import { withdrawSchedule } from './withdraw.ts';

/**
 * Schedules can be read where they can be searched for. They are written where a setting says so, and the server runs transactions and
 * lets Schedules and Slots be written.
 */
export function scheduleOperations(
  ehr: FhirConnection,
  mode: BookingMode,
  facts: ServerFacts,
): Partial<ScheduleOperations> {
  // Such a server shows Schedules with their Slots alone.
  if (ehr.settings.slots?.by_service) return {};
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

/** @throws ConnectorError `rejected` if the settings ask for what the booking mode cannot do */
export function assertSchedulesCanBeWritten({ schedules, booking }: FhirSettings): void {
  const mode = booking?.mode ?? 'auto';
  if (schedules?.write !== true || mode === 'auto' || mode === 'transaction') return;
  throw new ConnectorError('rejected', 'schedules.write needs booking.mode: transaction');
}

export function writesSchedules(ehr: FhirConnection, mode: BookingMode, facts: ServerFacts): boolean {
  return ehr.settings.schedules?.write === true && lackedForSchedules(ehr, mode, facts).length === 0;
}

/** What a server lacks so that schedules could be written. */
export function lackedForSchedules({ settings }: FhirConnection, mode: BookingMode, facts: ServerFacts): string[] {
  const can = (type: string) => facts.can(type, 'create') && facts.can(type, 'update');
  return [
    ...(mode === 'transaction' ? [] : ['bookings by transactions']),
    // A schedule is found by its operation id, and by nothing else.
    ...(settings.booking?.operation_lookup === false ? ['operation ids'] : []),
    ...['Schedule', 'Slot'].flatMap((type) => (can(type) ? [] : [`${type} (create, update)`])),
  ];
}

/**
 * Adds the slots that have come within the horizon since. A creation that was interrupted is left to its operation. A
 * schedule that fails does not keep the others from growing.
 *
 * @throws the first error, when the others have grown or the EHR is unavailable
 */
async function extendSchedules(ehr: FhirConnection, careUnit: CareUnit): Promise<void> {
  const directory = await ehr.directory.of(careUnit);
  const horizon = horizonOf(ehr);
  const errors: unknown[] = [];
  for (const schedule of await ehr.client.readMany<FhirSchedule>(directory.schedulesOf(undefined))) {
    const own = ownScheduleOf(schedule);
    if (schedule.active === false || !own?.isReady || !isDue(ehr, own)) continue;
    try {
      await grow(ehr, careUnit, referenceTo(schedule), horizon);
    } catch (error) {
      errors.push(error);
      if (error instanceof ConnectorError && error.kind === 'unavailable') break;
    }
  }
  if (errors.length > 0) throw errors[0];
}
