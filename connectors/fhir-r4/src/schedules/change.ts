import {
  type CareUnit,
  ConnectorError,
  type Period,
  type Schedule,
  type ScheduleEnd,
  type ScheduleException,
} from '@crossward/connector-kit';
import type { CareUnitDirectory } from '../directory/directory.ts';
import { type FhirSchedule, type FhirSlot, referenceTo } from '../fhir.ts';
import { type OwnSchedule, operationIdsOf, ownScheduleOf, withOwnSchedule } from '../mappers/schedule.ts';
import { removedSlot, slotTime } from '../mappers/slot.ts';
import type { FhirConnection } from '../server/connection.ts';
import { searchSlots } from '../slots/search.ts';
import { appointmentsIn } from './conflicts.ts';
import { slotsStartingIn } from './grow.ts';
import { readSchedule, toSchedule } from './read.ts';
import { untilCurrent, writeTogether } from './transaction.ts';

/** Removes the slots of occurrences that start at or after `end`. */
export function endSchedule(ehr: FhirConnection, write: ScheduleEnd): Promise<Schedule> {
  const { operationId, end } = write;
  return untilCurrent(() =>
    change(ehr, write, (own) => ({
      after: { ...own, ends: [...own.ends, { operationId, at: end }] },
      period: { start: end, end: own.slotsUntil },
    })),
  );
}

/** Removes the slots that overlap the period. */
export function addScheduleException(ehr: FhirConnection, write: ScheduleException): Promise<Schedule> {
  const { operationId, start, end } = write;
  return untilCurrent(() =>
    change(ehr, write, (own) => ({
      after: { ...own, exceptions: [...own.exceptions, { operationId, start, end }] },
      period: { start: new Date(start.getTime() - own.slotMinutes * 60_000), end },
    })),
  );
}

interface Change {
  readonly after: OwnSchedule;
  /** Where slots can differ. */
  readonly period: Period;
}

/** Writes the Schedule and the slots that it loses in one transaction. A booking in between fails it by a slot's version. */
async function change(
  ehr: FhirConnection,
  { careUnit, resourceId, scheduleId, operationId }: ScheduleEnd | ScheduleException,
  plan: (own: OwnSchedule) => Change,
): Promise<Schedule> {
  const found = await readSchedule(ehr, careUnit, resourceId, scheduleId);
  if (!found) throw new ConnectorError('schedule_not_found', 'No such schedule of this resource');
  const { resource, directory } = found;
  const own = ownScheduleOf(resource);
  if (!own) throw new ConnectorError('unsupported', 'A schedule of the EHR itself is changed in the EHR');
  if (operationIdsOf(own).includes(operationId)) return shown(resource, careUnit, directory);
  const { after, period } = plan(own);
  const lost = await slotsLost(ehr, { careUnit, directory, resource, own, after, period });
  const appointmentIds = await appointmentsIn(ehr, careUnit, resourceId, lost);
  if (appointmentIds.length > 0) {
    throw new ConnectorError('schedule_has_appointments', 'Appointments take the time slots', { appointmentIds });
  }
  const changed = withOwnSchedule(resource, after);
  await writeTogether(ehr, {
    updates: [
      { before: resource, after: changed },
      ...lost.map((slot) => ({ before: slot, after: removedSlot(slot, operationId) })),
    ],
  });
  return shown(changed, careUnit, directory);
}

function shown(resource: FhirSchedule, careUnit: CareUnit, directory: CareUnitDirectory): Schedule {
  const schedule = toSchedule(resource, careUnit, directory);
  if (!schedule) throw new ConnectorError('schedule_not_found', 'No such schedule of this resource');
  return schedule;
}

interface Difference extends Change {
  readonly careUnit: CareUnit;
  readonly directory: CareUnitDirectory;
  readonly resource: FhirSchedule;
  readonly own: OwnSchedule;
}

/** The Slots in the EHR that the schedule no longer has. Those that the staff have blocked stay as they are. */
async function slotsLost(
  ehr: FhirConnection,
  { careUnit, directory, resource, own, after, period }: Difference,
): Promise<FhirSlot[]> {
  if (period.start >= period.end) return [];
  const starts = (of: OwnSchedule) => slotsStartingIn(of, careUnit, period).map(({ start }) => start.getTime());
  const kept = new Set(starts(after));
  const gone = new Set(starts(own).filter((start) => !kept.has(start)));
  const found = await searchSlots(ehr, directory, [referenceTo(resource)], {
    start: period.start,
    before: period.end,
    statuses: undefined,
  });
  return found.filter((slot) => gone.has(slotTime(slot)?.start.getTime() ?? 0) && !isOutOfUse(slot));
}

function isOutOfUse({ status }: FhirSlot): boolean {
  return status === 'busy-unavailable' || status === 'entered-in-error';
}
