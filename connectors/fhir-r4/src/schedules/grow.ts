import type { CareUnit, Period } from '@crossward/connector-kit';
import { slotsOf } from '@crossward/connector-kit/timetable';
import { unknownOutcome } from '../booking/write/outcomes.ts';
import { type FhirSchedule, type FhirSlot, referenceTo } from '../fhir.ts';
import { type OwnSchedule, ownScheduleOf, timetableOf, withOwnSchedule } from '../mappers/schedule.ts';
import type { FhirConnection } from '../server/connection.ts';
import { defaultHorizonDays } from '../settings.ts';
import { transactionSize, untilCurrent, writeTogether } from './transaction.ts';

const dayMilliseconds = 24 * 60 * 60 * 1000;
/** Slots created in one transaction. */
const slotsAtOnce = 100;

export function horizonDays({ settings }: FhirConnection): number {
  return settings.schedules?.horizon_days ?? defaultHorizonDays;
}

/** Until when a schedule has slots now. */
export function horizonOf(ehr: FhirConnection): Date {
  return new Date(Date.now() + horizonDays(ehr) * dayMilliseconds);
}

/** Slots are added for whole days, not for each hour that passes. */
const slackMilliseconds = dayMilliseconds;

/** Whether slots are missing before the horizon. */
export function isDue(ehr: FhirConnection, { slotsUntil }: OwnSchedule): boolean {
  return slotsUntil.getTime() < horizonOf(ehr).getTime() - slackMilliseconds;
}

/**
 * Time after which `grow` starts no further transaction. A schedule with thousands of slots would exceed the time-out of the
 * operation, and the caller would not learn that it was created.
 */
const longestMilliseconds = 5_000;

/**
 * Creates the slots of a schedule up to an instant, some in each transaction, the earliest first. Each transaction also
 * writes the Schedule under the version that was read, so that no slot is created twice. Safe to call again after a
 * failure. What it has no time for is left to the next call.
 */
export async function grow(ehr: FhirConnection, careUnit: CareUnit, reference: string, until: Date): Promise<void> {
  const deadline = performance.now() + longestMilliseconds;
  while (await untilCurrent(() => growOnce(ehr, careUnit, reference, until))) {
    if (performance.now() >= deadline) return;
  }
}

/** Returns whether there may be more to create. */
async function growOnce(ehr: FhirConnection, careUnit: CareUnit, reference: string, until: Date): Promise<boolean> {
  const schedule = await ehr.client.read<FhirSchedule>(reference);
  const own = schedule && ownScheduleOf(schedule);
  if (!schedule || !own || schedule.active === false) throw unknownOutcome();
  // What has passed cannot be booked. A schedule may have started years ago.
  const from = new Date(Math.max(own.slotsUntil.getTime(), Date.now()));
  const missing = slotsStartingIn(own, careUnit, { start: from, end: until });
  if (missing.length === 0 && own.isReady) return false;
  const most = transactionSize(ehr, slotsAtOnce + 1) - 1;
  const now = missing.slice(0, most);
  const slotsUntil = missing[most]?.start ?? new Date(Math.max(until.getTime(), own.slotsUntil.getTime()));
  const grown = withOwnSchedule(schedule, { ...own, isReady: true, slotsUntil });
  const after = { ...grown, planningHorizon: { ...grown.planningHorizon, end: slotsUntil.toISOString() } };
  await writeTogether(ehr, {
    updates: [{ before: schedule, after }],
    creations: now.map((slot) => newSlot(schedule, slot)),
  });
  return missing.length > most;
}

/** The slots of the schedule that start in a period. */
export function slotsStartingIn(own: OwnSchedule, { timeZone }: CareUnit, { start, end }: Period): Period[] {
  const lastEnd = new Date(end.getTime() + own.slotMinutes * 60_000);
  return slotsOf(timetableOf(own), timeZone, { start, end: lastEnd }).filter((slot) => slot.start < end);
}

export function newSlot(schedule: FhirSchedule, { start, end }: Period): FhirSlot {
  return {
    resourceType: 'Slot',
    schedule: { reference: referenceTo(schedule) },
    status: 'free',
    start: start.toISOString(),
    end: end.toISOString(),
    ...(schedule.serviceType ? { serviceType: schedule.serviceType } : {}),
    ...(schedule.serviceCategory ? { serviceCategory: schedule.serviceCategory } : {}),
    ...(schedule.specialty ? { specialty: schedule.specialty } : {}),
  };
}
