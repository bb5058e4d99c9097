import { randomUUID } from 'node:crypto';
import { ConnectorError } from '../errors.ts';
import type { CareUnit } from '../records.ts';
import type { Schedule } from '../schedules.ts';
import type { CompleteConnector, Variant } from './broken.test-support.ts';

const minute = 60_000;

function isKind(error: unknown, kind: ConnectorError['kind']): error is ConnectorError {
  return error instanceof ConnectorError && error.kind === kind;
}

/** Connectors that are wrong about schedules, each with the check that must fail. */
export function scheduleVariants(own: CareUnit, other: CareUnit): Variant[] {
  const variants: [string, string, Variant[3]][] = [
    [
      'lists schedules in reverse order',
      'lists schedules by id, in pages, and finds each',
      (right) => ({ listSchedules: async (query) => (await right.listSchedules(query)).toReversed() }),
    ],
    [
      'leaves out the last slot',
      'a new schedule is found and gives time slots at once',
      (right) => ({
        listTimeSlots: async (query) => (await right.listTimeSlots(query)).slice(0, -1),
      }),
    ],
    [
      'ignores the range of a list of schedules',
      'a new schedule is found and gives time slots at once',
      (right) => ({ listSchedules: ({ range: _, ...query }) => right.listSchedules(query) }),
    ],
    [
      'does not see that slots of a new schedule are booked',
      'its time slots can be booked',
      (right) => ({
        listTimeSlots: async (query) => {
          const { start, end, careUnit } = query;
          const booked = await right.listAppointments({ careUnit, range: { start, end }, limit: 500 });
          return right.listTimeSlots({ ...query, freeing: booked.map(({ id }) => id) });
        },
      }),
    ],
    [
      'ignores the recurrence',
      'a recurring schedule has slots on its occurrences alone',
      (right) => ({
        createSchedule: async (write) => ({
          ...(await right.createSchedule({ ...write, recurrence: null })),
          recurrence: write.recurrence,
        }),
      }),
    ],
    [
      'keeps the offset of the first occurrence across a clock change',
      'keeps local times and loses no slot across a clock change',
      (right) => ({
        listTimeSlots: (query) =>
          right.listTimeSlots({ ...query, careUnit: { ...query.careUnit, timeZone: 'Etc/GMT-1' } }),
      }),
    ],
    [
      'does not notice overlaps',
      'rejects a schedule that overlaps another one, and creates nothing',
      (right) => ({ createSchedule: (write) => right.createSchedule(write).catch(() => as(write)) }),
    ],
    [
      'tells several callers that they created the same schedule',
      'of concurrent schedules that overlap, one is created',
      (right) => ({ createSchedule: (write) => right.createSchedule(write).catch(() => as(write)) }),
    ],
    [
      'does not remove slots at an end',
      'ending a schedule removes its later slots',
      (right) => ({ endSchedule: async (write) => ({ ...(await found(right, write)), endsAt: write.end }) }),
    ],
    [
      'lets a later end lengthen a schedule',
      'ending a schedule removes its later slots',
      (right) => {
        let previous: string | undefined;
        return {
          endSchedule: async (write) => {
            if (previous) await right.withdrawSchedule(write.careUnit, previous);
            previous = write.operationId;
            return right.endSchedule(write);
          },
        };
      },
    ],
    [
      'leaves slots that an exception overlaps in part',
      'an exception takes out the slots that overlap it',
      (right) => ({
        addScheduleException: async (write) => {
          const end = new Date(write.end.getTime() - 10 * minute);
          const { start } = write;
          return { ...(await right.addScheduleException({ ...write, end })), exceptions: [{ start, end: write.end }] };
        },
      }),
    ],
    [
      'ends a schedule with appointments',
      'neither is done while an appointment takes one of the slots',
      (right) => ({ endSchedule: (write) => right.endSchedule(write).catch(() => found(right, write)) }),
    ],
    [
      'does not say which appointments are in the way',
      'neither is done while an appointment takes one of the slots',
      (right) => ({
        endSchedule: (write) =>
          right.endSchedule(write).catch((error) => {
            throw isKind(error, 'schedule_has_appointments') ? new ConnectorError(error.kind, error.message) : error;
          }),
      }),
    ],
    [
      'takes out a period that is booked at the same time',
      'a booking concurrent with an exception never loses its slots',
      (right) => {
        const booked = Promise.withResolvers<void>();
        return {
          changeAppointments: (write) => right.changeAppointments(write).finally(booked.resolve),
          addScheduleException: async (write) => {
            await booked.promise;
            return right.addScheduleException(write).catch(() => found(right, write));
          },
        };
      },
    ],
    [
      'repeats an exception',
      'repeating a write with its operation id changes nothing',
      (right) => ({
        addScheduleException: (write) => right.addScheduleException({ ...write, operationId: randomUUID() }),
      }),
    ],
    [
      'does not find schedules by operation id',
      'repeating a write with its operation id changes nothing',
      () => ({ findScheduleWrite: async () => null }),
    ],
    [
      'shows schedules of another care unit',
      'a schedule of another care unit is neither found nor changed',
      (right) => ({
        findSchedule: async (careUnit, ...ids) =>
          (await right.findSchedule(careUnit, ...ids)) ??
          right.findSchedule(careUnit.id === other.id ? own : other, ...ids),
      }),
    ],
    [
      'forgets to remove a withdrawn schedule',
      'a withdrawn write leaves nothing behind',
      () => ({ withdrawSchedule: async () => 'withdrawn' }),
    ],
    [
      'does not say that a schedule is booked',
      'a schedule whose slots are booked is not withdrawn',
      (right) => ({
        withdrawSchedule: async (...input) => {
          await right.withdrawSchedule(...input);
          return 'withdrawn';
        },
      }),
    ],
  ];
  return variants.map(([name, check, defects]) => [name, 'schedules', check, defects]);
}

function as(write: Parameters<CompleteConnector['createSchedule']>[0]): Schedule {
  return { ...write, id: randomUUID(), endsAt: null, exceptions: [] };
}

async function found(
  right: CompleteConnector,
  { careUnit, resourceId, scheduleId }: { careUnit: CareUnit; resourceId: string; scheduleId: string },
): Promise<Schedule> {
  const schedule = await right.findSchedule(careUnit, resourceId, scheduleId);
  if (!schedule) throw new ConnectorError('schedule_not_found', 'No such schedule');
  return schedule;
}
