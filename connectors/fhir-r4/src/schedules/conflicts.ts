import { type CareUnit, overlaps, type Period, type Timetable } from '@crossward/connector-kit';
import { instantOf, openPeriodsInParts, overlapWindow, periodsOverlap } from '@crossward/connector-kit/timetable';
import { listAppointments } from '../appointments/reads.ts';
import type { CareUnitDirectory } from '../directory/directory.ts';
import { type FhirSchedule, type FhirSlot, referenceTo } from '../fhir.ts';
import { ownScheduleOf, timetableOf } from '../mappers/schedule.ts';
import { slotTime } from '../mappers/slot.ts';
import type { FhirConnection } from '../server/connection.ts';
import { searchSlots } from '../slots/search.ts';
import { byAge } from './read.ts';

/** More appointments than one resource has in the period of a write. */
const mostAppointments = 10_000;

interface Wanted {
  readonly careUnit: CareUnit;
  readonly resourceId: string;
  readonly timetable: Timetable;
  /** The Schedule, if it exists already. */
  readonly own?: FhirSchedule | undefined;
}

/**
 * Whether a schedule overlaps another one of the resource within two years, at whichever care unit of the connection. Of the
 * EHR's own schedules the Slots count. Of two that are created at the same time, the older one stays: a schedule that is not
 * ready yet gives way to older ones, and counts for younger ones alone.
 */
export async function overlapsAnother(
  ehr: FhirConnection,
  directory: CareUnitDirectory,
  { careUnit, resourceId, timetable, own }: Wanted,
): Promise<boolean> {
  const window = overlapWindow(instantOf(timetable.localStart, careUnit.timeZone), new Date());
  const periods = await openPeriodsInParts(timetable, careUnit.timeZone, window);
  for (const place of [{ careUnit, directory }, ...(await placesElsewhere(ehr, careUnit, resourceId))]) {
    const found = await ehr.client.readMany<FhirSchedule>(place.directory.schedulesOf([resourceId]));
    const foreign: FhirSchedule[] = [];
    for (const other of found.filter((it) => it.id !== own?.id)) {
      const theirs = ownScheduleOf(other);
      if (!theirs) foreign.push(other);
      if (!theirs || !counts(other, own)) continue;
      const occupied = await openPeriodsInParts(timetableOf(theirs), place.careUnit.timeZone, window);
      if (periodsOverlap(periods, occupied)) return true;
    }
    if (foreign.length > 0 && (await overlapsSlots(ehr, place.directory, foreign, periods))) return true;
  }
  return false;
}

/** The other care units where the resource has schedules. */
async function placesElsewhere(ehr: FhirConnection, { id }: CareUnit, resourceId: string) {
  const others = ehr.careUnits.filter((it) => it.id !== id);
  const known = await Promise.all(others.map(async (it) => ({ careUnit: it, known: await ehr.directory.of(it) })));
  const shared = known.filter((it) => it.known.schedulesOf([resourceId]).length > 0);
  return Promise.all(
    shared.map(async ({ careUnit }) => ({ careUnit, directory: await ehr.directory.reload(careUnit) })),
  );
}

function counts(other: FhirSchedule, own: FhirSchedule | undefined): boolean {
  return ownScheduleOf(other)?.isReady === true || (own !== undefined && byAge(other, own) < 0);
}

async function overlapsSlots(
  ehr: FhirConnection,
  directory: CareUnitDirectory,
  schedules: readonly FhirSchedule[],
  periods: readonly Period[],
): Promise<boolean> {
  const [first, last] = [periods[0], periods.at(-1)];
  if (!first || !last) return false;
  const range = { start: new Date(first.start.getTime() - dayMilliseconds), before: last.end };
  const slots = await searchSlots(ehr, directory, schedules.map(referenceTo), { ...range, statuses: undefined });
  const times = slots
    .filter(({ status }) => status !== 'entered-in-error')
    .flatMap((slot) => slotTime(slot) ?? [])
    .sort((a, b) => a.start.getTime() - b.start.getTime());
  return periodsOverlap(periods, times);
}

const dayMilliseconds = 24 * 60 * 60 * 1000;

/** The ids of the resource's appointments that overlap one of the slots, by start. */
export async function appointmentsIn(
  ehr: FhirConnection,
  careUnit: CareUnit,
  resourceId: string,
  slots: readonly FhirSlot[],
): Promise<string[]> {
  const times = slots.flatMap((slot) => slotTime(slot) ?? []);
  if (times.length === 0) return [];
  const range = {
    start: new Date(Math.min(...times.map(({ start }) => start.getTime()))),
    end: new Date(Math.max(...times.map(({ end }) => end.getTime()))),
  };
  const states = ['booked', 'held', 'pending'] as const;
  const found = await listAppointments(ehr, { careUnit, resourceId, range, states, limit: mostAppointments });
  return found.filter((it) => times.some((time) => overlaps(time, it))).map(({ id }) => id);
}
