import { type CareUnit, ConnectorError, overlaps, type Timetable } from '@crossward/connector-kit';
import {
  instantOf,
  openPeriodsInParts,
  overlapWindow,
  periodsOverlap,
  slotsOf,
} from '@crossward/connector-kit/timetable';
import type { Kysely } from 'kysely';
import { takenState } from './appointment-state.ts';
import { loadSchedules, type SandboxSchedule } from './schedule-reads.ts';
import type { SandboxTables } from './tables.ts';

const dayMilliseconds = 24 * 60 * 60 * 1000;

/** Whether the schedule overlaps another schedule of its resource within two years. */
export async function overlapsAnother(
  db: Kysely<SandboxTables>,
  emr: string,
  careUnit: CareUnit,
  schedule: Omit<SandboxSchedule, 'id'> & { readonly id?: string },
): Promise<boolean> {
  const loaded = await loadSchedules(db, emr, careUnit.id, [schedule.resourceId]);
  const others = loaded?.schedules.filter(({ id }) => id !== schedule.id) ?? [];
  if (!loaded || others.length === 0) return false;
  const { timeZone } = careUnit;
  const window = overlapWindow(instantOf(schedule.localStart, timeZone), loaded.now);
  const periods = await openPeriodsInParts(schedule, timeZone, window);
  for (const other of others) {
    if (periodsOverlap(periods, await openPeriodsInParts(other, timeZone, window))) return true;
  }
  return false;
}

/**
 * The ids of the appointments, by start, that take slots of `before` that `after` does not have. The caller must hold the
 * resource's lock.
 *
 * @param after `undefined`: no slots
 * @param changed the period in which slots can differ. Without an end, all that follows
 */
export async function appointmentsInTheWay(
  db: Kysely<SandboxTables>,
  emr: string,
  { timeZone }: CareUnit,
  before: SandboxSchedule,
  after: SandboxSchedule | undefined,
  changed: { readonly start: Date; readonly end?: Date },
): Promise<string[]> {
  const slotMilliseconds = before.slotMinutes * 60_000;
  const taken = await db
    .selectFrom('sandbox.appointments')
    .select(['id', 'starts_at', 'ends_at'])
    .where('emr', '=', emr)
    .where('resource_id', '=', before.resourceId)
    .where('ends_at', '>', new Date(changed.start.getTime() - slotMilliseconds))
    .where('starts_at', '>', new Date(changed.start.getTime() - slotMilliseconds - dayMilliseconds))
    .$if(changed.end !== undefined, (query) =>
      query.where('starts_at', '<', new Date((changed.end?.getTime() ?? 0) + slotMilliseconds)),
    )
    .where(takenState)
    .orderBy('starts_at')
    .orderBy('id')
    .execute();
  return taken.flatMap(({ id, starts_at, ends_at }) => {
    const time = { start: starts_at, end: ends_at };
    const around = {
      start: new Date(starts_at.getTime() - slotMilliseconds),
      end: new Date(ends_at.getTime() + slotMilliseconds),
    };
    const slots = (timetable: Timetable | undefined) =>
      timetable ? slotsOf(timetable, timeZone, around).filter((slot) => overlaps(slot, time)).length : 0;
    return slots(before) > slots(after) ? [id] : [];
  });
}

/** @throws ConnectorError `schedule_has_appointments` */
export function assertNoneInTheWay(appointmentIds: readonly string[]): void {
  if (appointmentIds.length === 0) return;
  throw new ConnectorError('schedule_has_appointments', 'Appointments take the time slots', { appointmentIds });
}
