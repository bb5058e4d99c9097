import { randomUUID } from 'node:crypto';
import { Temporal } from 'temporal-polyfill';
import type { Connector } from '../connector.ts';
import { ConnectorError } from '../errors.ts';
import type { TimeSlot } from '../records.ts';
import type { Period, Schedule, ScheduleCreation, Timetable } from '../schedules.ts';
import { NotChecked } from './check.ts';
import { expectThat, given, operation } from './expect.ts';
import { freeSlot, freeSlots, windowOf } from './steps.ts';
import type { Subject } from './subject.ts';

export const slotMinutes = 30;
const minute = 60_000;

/** Local hours at which a resource usually has no schedule. */
const candidateHours = [20, 5, 18, 22, 3, 0];

/** A schedule whose times are known: one that a check has created. */
export type TimedSchedule = Schedule & Timetable;
export type NewSchedule = Omit<ScheduleCreation, 'operationId' | 'careUnit'>;

/** A schedule of two hours, a few days into the window, at the given hour. */
export async function scheduleAt(
  subject: Subject,
  hour: number,
  change: { recurrence?: string; date?: Temporal.PlainDate; hours?: number } = {},
): Promise<NewSchedule> {
  const { resourceId, healthcareServiceId } = await bookable(subject);
  const start = (change.date ?? defaultDate(subject)).toPlainDateTime({ hour });
  const end = start.add({ hours: change.hours ?? 2 });
  return {
    resourceId,
    healthcareServiceIds: [healthcareServiceId],
    localStart: start.toString({ smallestUnit: 'second' }),
    localEnd: end.toString({ smallestUnit: 'second' }),
    slotMinutes,
    recurrence: change.recurrence ?? null,
  };
}

function defaultDate(subject: Subject): Temporal.PlainDate {
  const zoned = Temporal.Instant.fromEpochMilliseconds(windowOf(subject).start.getTime());
  return zoned.toZonedDateTimeISO(subject.careUnit.timeZone).toPlainDate().add({ days: 5 });
}

async function bookable(subject: Subject): Promise<Pick<TimeSlot, 'resourceId' | 'healthcareServiceId'>> {
  const { facts, connector, careUnit } = subject;
  const [identifier] = facts.resource ?? [];
  if (identifier === undefined) return freeSlot(subject);
  const resource = await operation(connector, 'findResource')(careUnit, identifier);
  const { id, healthcareServiceIds } = given(resource, 'the EHR does not have the given resource');
  const healthcareServiceId = facts.healthcareServiceId ?? healthcareServiceIds[0];
  return { resourceId: id, healthcareServiceId: given(healthcareServiceId, 'the resource offers no service') };
}

/** Creates a schedule at an hour without another one. */
export async function createdSchedule(subject: Subject, change: { recurrence?: string } = {}): Promise<TimedSchedule> {
  return (await createdWithId(subject, change)).schedule;
}

export async function createdWithId(
  subject: Subject,
  change: { recurrence?: string } = {},
): Promise<{ readonly schedule: TimedSchedule; readonly operationId: string }> {
  for (const hour of candidateHours) {
    const operationId = randomUUID();
    try {
      const schedule = await create(subject, await scheduleAt(subject, hour, change), { operationId });
      return { schedule, operationId };
    } catch (error) {
      if (!(error instanceof ConnectorError) || error.kind !== 'schedule_overlap') throw error;
    }
  }
  throw new NotChecked('the resource has no time without a schedule');
}

/** A schedule at times without another one, to be created by the check. */
export async function freeTime(subject: Subject, change: { recurrence?: string } = {}): Promise<NewSchedule> {
  const { schedule, operationId } = await createdWithId(subject, change);
  await operation(subject.connector, 'withdrawSchedule')(subject.careUnit, operationId);
  return newSchedule(schedule);
}

export function newSchedule({ id: _, endsAt: _e, exceptions: _x, ...schedule }: TimedSchedule): NewSchedule {
  return schedule;
}

interface WriteOptions {
  readonly operationId?: string;
  readonly through?: Connector;
}

export async function create(
  { connector, careUnit }: Subject,
  schedule: NewSchedule,
  { operationId = randomUUID(), through = connector }: WriteOptions = {},
): Promise<TimedSchedule> {
  const created = await operation(through, 'createSchedule')({ operationId, careUnit, ...schedule });
  expectThat(isTimed(created), 'A new schedule has no times');
  return created;
}

function isTimed(schedule: Schedule): schedule is TimedSchedule {
  return schedule.localStart !== null && schedule.localEnd !== null && schedule.slotMinutes !== null;
}

export function end(
  { connector, careUnit }: Subject,
  { id, resourceId }: Schedule,
  at: Date,
  { operationId = randomUUID(), through = connector }: WriteOptions = {},
): Promise<Schedule> {
  return operation(through, 'endSchedule')({ operationId, careUnit, resourceId, scheduleId: id, end: at });
}

export function except(
  { connector, careUnit }: Subject,
  { id, resourceId }: Schedule,
  period: Period,
  { operationId = randomUUID(), through = connector }: WriteOptions = {},
): Promise<Schedule> {
  const write = { operationId, careUnit, resourceId, scheduleId: id, start: period.start, end: period.end };
  return operation(through, 'addScheduleException')(write);
}

/** The free slots of the resource in the period, for the first service of the schedule. */
export function slotsIn(subject: Subject, schedule: NewSchedule, { start, end }: Period): Promise<readonly TimeSlot[]> {
  const healthcareServiceIds = schedule.healthcareServiceIds.slice(0, 1);
  return freeSlots(subject, { start, end, resourceIds: [schedule.resourceId], healthcareServiceIds });
}

/** Starts of slots that follow each other through the period. */
export function startsIn({ start, end }: Period): Date[] {
  const starts: Date[] = [];
  for (let at = start.getTime(); at < end.getTime(); at += slotMinutes * minute) starts.push(new Date(at));
  return starts;
}

/** The occurrences of a schedule that starts on `localStart` and repeats after these numbers of days. */
export function periodsOn({ careUnit }: Subject, schedule: NewSchedule, days: readonly number[]): Period[] {
  const at = (local: string, later: number) =>
    new Date(
      Temporal.PlainDateTime.from(local).add({ days: later }).toZonedDateTime(careUnit.timeZone).epochMilliseconds,
    );
  return days.map((later) => ({ start: at(schedule.localStart, later), end: at(schedule.localEnd, later) }));
}

export function firstPeriod(subject: Subject, schedule: NewSchedule): Period {
  const [first] = periodsOn(subject, schedule, [0]);
  if (!first) throw new Error('A schedule has a first occurrence');
  return first;
}
