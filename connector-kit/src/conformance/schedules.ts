import { randomUUID } from 'node:crypto';
import { Temporal } from 'temporal-polyfill';
import { ConnectorError } from '../errors.ts';
import type { Period, Schedule } from '../schedules.ts';
import { capability, claimed, NotChecked } from './check.ts';
import { describe, expectRejection, expectSame, expectThat, given, inOrder, operation } from './expect.ts';
import {
  create,
  createdSchedule,
  createdWithId,
  end,
  except,
  firstPeriod,
  freeTime,
  type NewSchedule,
  newSchedule,
  periodsOn,
  scheduleAt,
  slotMinutes,
  slotsIn,
  startsIn,
  type TimedSchedule,
} from './schedule-steps.ts';
import { appointmentsAt, book, change, changes, creation, has, needsBooking } from './steps.ts';
import type { Subject } from './subject.ts';

const day = 24 * 60 * 60 * 1000;
const rounds = 3;

const createsSchedules = has('createSchedule');

/** The fields that a caller sees, without the EHR's id. */
function told({ id: _, ...schedule }: Schedule): object {
  return { ...schedule, healthcareServiceIds: schedule.healthcareServiceIds.toSorted() };
}

async function expectSlots(subject: Subject, schedule: NewSchedule, periods: readonly Period[], what: string) {
  const [first] = periods;
  if (!first) return;
  const around = { start: first.start, end: new Date((periods.at(-1) ?? first).end.getTime()) };
  const found = await slotsIn(subject, schedule, around);
  const inside = found.filter((slot) => isAtItsTime(slot.start, schedule, subject));
  expectSame(
    inside.map(({ start }) => start),
    periods.flatMap(startsIn),
    what,
  );
}

/** Leaves out slots of other schedules of the resource, at other times of the day. */
function isAtItsTime(start: Date, { localStart, localEnd }: NewSchedule, { careUnit }: Subject): boolean {
  const local = Temporal.Instant.fromEpochMilliseconds(start.getTime()).toZonedDateTimeISO(careUnit.timeZone);
  const time = local.toPlainTime().toString({ smallestUnit: 'second' });
  const [from, to] = [localStart.slice(11), localEnd.slice(11)];
  return from < to ? time >= from && time < to : time >= from || time < to;
}

async function slotsOfFirst(subject: Subject, schedule: TimedSchedule) {
  const slots = await slotsIn(subject, schedule, firstPeriod(subject, schedule));
  const [first, second] = slots;
  if (!first || !second) throw new NotChecked('a new schedule has no two free slots');
  return { first, second, last: slots.at(-1) ?? second };
}

export const schedules = capability('schedules', ({ listSchedules }) => listSchedules !== undefined, {
  'lists schedules by id, in pages, and finds each': async (subject) => {
    const { connector, careUnit } = subject;
    const { resourceId } = await scheduleAt(subject, 20);
    if (connector.createSchedule) await createdSchedule(subject);
    const list = operation(connector, 'listSchedules');
    const all = await list({ careUnit, resourceId, limit: 500 });
    expectThat(
      inOrder(all, ({ id }) => [id]),
      'Schedules are not ordered by id',
    );
    const paged: Schedule[] = [];
    for (let after: string | undefined; paged.length <= all.length; ) {
      const page = await list({ careUnit, resourceId, after, limit: 1 });
      paged.push(...page);
      after = page[0]?.id;
      if (!after) break;
    }
    expectSame(paged, all, 'Schedules in pages of one');
    for (const schedule of all.slice(0, 20)) {
      const found = await operation(connector, 'findSchedule')(careUnit, resourceId, schedule.id);
      expectSame(found, schedule, 'A schedule, found by its id');
      expectSame(schedule.resourceId, resourceId, 'Resource of a listed schedule');
    }
    const none = await operation(connector, 'findSchedule')(careUnit, resourceId, 'no-such-schedule');
    expectSame(none, null, 'An unknown schedule');
  },

  'a new schedule is found and gives time slots at once': claimed([createsSchedules], async (subject) => {
    const schedule = await createdSchedule(subject);
    const { connector, careUnit } = subject;
    const { localStart, localEnd } = schedule;
    const asked = await scheduleAt(subject, Number(localStart.slice(11, 13)));
    expectSame(told(schedule), told({ ...asked, id: '', endsAt: null, exceptions: [] }), 'The new schedule');
    const found = await operation(connector, 'findSchedule')(careUnit, schedule.resourceId, schedule.id);
    expectSame(found, schedule, 'The new schedule, read again');
    const period = firstPeriod(subject, schedule);
    await expectSlots(subject, schedule, [period], `Slots from ${localStart} to ${localEnd}`);
    const list = operation(connector, 'listSchedules');
    const idsIn = async (range: Period) =>
      (await list({ careUnit, resourceId: schedule.resourceId, range, limit: 500 })).map(({ id }) => id);
    expectThat((await idsIn(period)).includes(schedule.id), 'A schedule is not listed for the range of its occurrence');
    const before = { start: new Date(period.start.getTime() - 60_000), end: period.start };
    expectThat(!(await idsIn(before)).includes(schedule.id), 'A schedule is listed for a range without an occurrence');
  }),

  'its time slots can be booked': claimed([createsSchedules], async (subject) => {
    needsBooking(subject);
    const schedule = await createdSchedule(subject);
    const { first, last } = await slotsOfFirst(subject, schedule);
    for (const slot of [first, last]) {
      const { id } = await book(subject, { slot });
      const there = await appointmentsAt(subject, slot);
      expectSame(
        there.map((it) => it.id),
        [id],
        'Appointments in a slot of the new schedule',
      );
    }
    const left = await slotsIn(subject, schedule, firstPeriod(subject, schedule));
    expectThat(
      left.every(({ start }) => start.getTime() !== first.start.getTime()),
      'A booked slot of the new schedule is still free',
    );
  }),

  'a recurring schedule has slots on its occurrences alone': claimed([createsSchedules], async (subject) => {
    const schedule = await createdSchedule(subject, { recurrence: 'FREQ=DAILY;INTERVAL=2;COUNT=3' });
    await expectSlots(subject, schedule, periodsOn(subject, schedule, [0, 2, 4]), 'Slots on every other day');
    const [after] = periodsOn(subject, schedule, [6]);
    if (after) expectSame(await slotsIn(subject, schedule, after), [], 'Slots after the last occurrence');
  }),

  'keeps local times and loses no slot across a clock change': claimed([createsSchedules], async (subject) => {
    const { careUnit, connector } = subject;
    const now = Temporal.Now.zonedDateTimeISO(careUnit.timeZone);
    const next = given(now.getTimeZoneTransition('next'), 'the time zone has no clock change');
    const horizon = connector.capabilities.slotHorizonDays;
    const tooLate = horizon !== undefined && next.epochMilliseconds + 2 * day > Date.now() + horizon * day;
    if (tooLate) throw new NotChecked('the next clock change is beyond the days for which the EHR has slots');
    const date = next.toPlainDate().subtract({ days: 1 });
    const asked = await scheduleAt(subject, 22, { date, hours: 8, recurrence: 'FREQ=DAILY;COUNT=2' });
    const schedule = await createdForAnyResource(subject, asked);
    await expectSlots(subject, schedule, periodsOn(subject, schedule, [0, 1]), 'Slots across the clock change');
  }),

  'rejects a schedule that overlaps another one, and creates nothing': claimed([createsSchedules], async (subject) => {
    const { connector, careUnit } = subject;
    const existing = await createdSchedule(subject, { recurrence: 'FREQ=WEEKLY;COUNT=8' });
    const list = () => operation(connector, 'listSchedules')({ careUnit, resourceId: existing.resourceId, limit: 500 });
    const before = await list();
    const from = Temporal.PlainDateTime.from(existing.localStart);
    const text = (time: Temporal.PlainDateTime) => time.toString({ smallestUnit: 'second' });
    const overlapping: readonly [string, Partial<NewSchedule>][] = [
      ['the same times', {}],
      ['the seventh occurrence', shifted(from.add({ weeks: 6, minutes: slotMinutes }))],
      ['a daily one', { ...shifted(from.subtract({ days: 3 })), recurrence: 'FREQ=DAILY;COUNT=5' }],
    ];
    for (const [what, times] of overlapping) {
      const rejected = create(subject, { ...newSchedule(existing), recurrence: null, ...times });
      await expectRejection(rejected, 'schedule_overlap', `A schedule that overlaps ${what}`);
    }
    expectSame(await list(), before, 'Schedules after a rejected one');

    function shifted(start: Temporal.PlainDateTime): Partial<NewSchedule> {
      return { localStart: text(start), localEnd: text(start.add({ minutes: slotMinutes })) };
    }
  }),

  'of concurrent schedules that overlap, one is created': claimed([createsSchedules], async (subject) => {
    const same = await freeTime(subject);
    const outcomes = await Promise.allSettled(
      Array.from({ length: 6 }, (_unused, index) => create(subject, same, { through: through(subject, index) })),
    );
    for (const outcome of outcomes) {
      if (outcome.status === 'fulfilled') continue;
      expectThat(isOverlap(outcome.reason), `Expected schedule_overlap, got ${describe(outcome.reason)}`);
    }
    expectSame(outcomes.filter(({ status }) => status === 'fulfilled').length, 1, 'Schedules created concurrently');
    // Another connection may learn of the schedule a little later.
    const winner = through(
      subject,
      outcomes.findIndex(({ status }) => status === 'fulfilled'),
    );
    const there: Subject = Object.create(subject, { connector: { value: winner } });
    await expectSlots(there, same, [firstPeriod(subject, same)], 'Slots of the schedule that was created');
  }),

  'ending a schedule removes its later slots': claimed([has('endSchedule')], async (subject) => {
    const schedule = await createdSchedule(subject, { recurrence: 'FREQ=DAILY;COUNT=3' });
    const [first, second, third] = periodsOn(subject, schedule, [0, 1, 2]) as [Period, Period, Period];
    const ended = await end(subject, schedule, second.start);
    expectSame(ended, { ...schedule, endsAt: second.start }, 'A schedule that was ended');
    expectSame(
      await operation(subject.connector, 'findSchedule')(subject.careUnit, schedule.resourceId, schedule.id),
      ended,
      'A schedule that was ended, read again',
    );
    await expectSlots(subject, schedule, [first], 'Slots before the end');
    expectSame(await slotsIn(subject, schedule, { start: second.start, end: second.end }), [], 'Slots after the end');
    const later = await end(subject, schedule, third.start);
    expectSame(later.endsAt, second.start, 'The end of a schedule after a later end');
    expectSame(await slotsIn(subject, schedule, { start: second.start, end: second.end }), [], 'Slots after two ends');
  }),

  'an exception takes out the slots that overlap it': claimed([has('addScheduleException')], async (subject) => {
    const schedule = await createdSchedule(subject, { recurrence: 'FREQ=DAILY;COUNT=2' });
    const [first, second] = periodsOn(subject, schedule, [0, 1]) as [Period, Period];
    const [a, b, c, d] = startsIn(first) as [Date, Date, Date, Date];
    const exception = { start: new Date(b.getTime() + 60_000), end: new Date(c.getTime() + 60_000) };
    const changed = await except(subject, schedule, exception);
    expectSame(changed, { ...schedule, exceptions: [exception] }, 'A schedule with an exception');
    const left = await slotsIn(subject, schedule, first);
    expectSame(
      left.map(({ start }) => start),
      [a, d],
      'Slots beside an exception',
    );
    await expectSlots(subject, schedule, [second], 'Slots of the next occurrence');
  }),

  'neither is done while an appointment takes one of the slots': claimed(
    [createsSchedules, changes('cancel')],
    async (subject) => {
      needsBooking(subject);
      const schedule = await createdSchedule(subject, { recurrence: 'FREQ=DAILY;COUNT=2' });
      const [first, second] = periodsOn(subject, schedule, [0, 1]) as [Period, Period];
      const [slot] = await slotsIn(subject, schedule, second);
      const { id } = await book(subject, { slot: given(slot, 'a new schedule has no free slot') });
      for (const [what, write] of [
        ['An end', () => end(subject, schedule, first.start)],
        ['An exception', () => except(subject, schedule, { start: first.start, end: second.end })],
      ] as const) {
        const [outcome] = await Promise.allSettled([write()]);
        const reason = outcome.status === 'rejected' ? outcome.reason : undefined;
        const isRejected = reason instanceof ConnectorError && reason.kind === 'schedule_has_appointments';
        expectThat(isRejected, `${what} with an appointment in the way: expected schedule_has_appointments`);
        expectSame(reason.appointmentIds, [id], `${what}: ids of the appointments in the way`);
        await expectSlots(subject, schedule, [first], `${what} was rejected: slots before the appointment`);
      }
      await change(subject, { kind: 'cancel', appointmentId: id });
      await except(subject, schedule, { start: first.start, end: second.end });
      expectSame(await slotsIn(subject, schedule, { start: first.start, end: second.end }).then(own), [], 'Slots left');

      function own(slots: Awaited<ReturnType<typeof slotsIn>>) {
        return slots.filter((it) => isAtItsTime(it.start, schedule, subject));
      }
    },
  ),

  'a booking concurrent with an exception never loses its slots': claimed(
    [has('addScheduleException'), changes('cancel')],
    async (subject) => {
      needsBooking(subject);
      const schedule = await createdSchedule(subject, { recurrence: `FREQ=DAILY;COUNT=${rounds}` });
      for (const period of periodsOn(subject, schedule, [0, 1, 2])) {
        const [slot] = await slotsIn(subject, schedule, period);
        const booking = await creation(subject, given(slot, 'a new schedule has no free slot'));
        const [exception, ...bookings] = await Promise.allSettled([
          except(subject, schedule, period, { through: through(subject, 1) }),
          change(subject, booking, { through: through(subject, 0) }),
          change(subject, booking, { through: through(subject, 1) }),
        ]);
        const booked = bookings.filter(({ status }) => status === 'fulfilled').length;
        const taken = exception?.status === 'fulfilled' ? 1 : 0;
        expectSame(booked + taken, 1, 'Bookings and exceptions that succeeded at the same time');
        const there = await appointmentsAt(subject, given(slot, 'a new schedule has no free slot'));
        expectSame(there.length, booked, 'Appointments in a slot that an exception may have taken');
      }
    },
  ),

  'repeating a write with its operation id changes nothing': claimed([createsSchedules], async (subject) => {
    const { connector, careUnit } = subject;
    const find = operation(connector, 'findScheduleWrite');
    const same = await freeTime(subject, { recurrence: 'FREQ=DAILY;COUNT=4' });
    const ids = { create: randomUUID(), end: randomUUID(), except: randomUUID() };
    expectSame(await find(careUnit, ids.create), null, 'A write that was never done');
    const outcomes = await Promise.all(
      [0, 1, 2].map((index) => create(subject, same, { operationId: ids.create, through: through(subject, index) })),
    );
    const [schedule] = outcomes as [TimedSchedule];
    for (const outcome of outcomes) expectSame(outcome, schedule, 'A schedule that was created again with its id');
    expectSame(await find(careUnit, ids.create), schedule, 'A schedule by its operation id');
    const [first, , third, fourth] = periodsOn(subject, schedule, [0, 1, 2, 3]) as [Period, Period, Period, Period];
    for (let time = 0; time < 2; time++) {
      if (connector.endSchedule) await end(subject, schedule, fourth.start, { operationId: ids.end });
      if (connector.addScheduleException) await except(subject, schedule, third, { operationId: ids.except });
    }
    const now = await operation(connector, 'findSchedule')(careUnit, schedule.resourceId, schedule.id);
    if (connector.endSchedule) expectSame(await find(careUnit, ids.end), now, 'A schedule by the id of its end');
    if (connector.addScheduleException) {
      expectSame(now?.exceptions.length, 1, 'Exceptions after the same one twice');
      expectSame(await find(careUnit, ids.except), now, 'A schedule by the id of its exception');
    }
    await expectSlots(subject, schedule, [first], 'Slots of a schedule that was created several times');
  }),

  'a schedule of another care unit is neither found nor changed': claimed([createsSchedules], async (subject) => {
    const { connector, careUnit } = subject;
    const otherCareUnit = given(subject.otherCareUnit, 'no other care unit is given');
    const schedule = await createdSchedule(subject);
    const { resourceId, id: scheduleId } = schedule;
    const find = operation(connector, 'findSchedule');
    expectSame(await find(otherCareUnit, resourceId, scheduleId), null, 'A schedule, read at another care unit');
    const listed = await operation(connector, 'listSchedules')({ careUnit: otherCareUnit, resourceId, limit: 500 });
    expectSame(listed, [], 'Schedules of the resource, listed at another care unit');
    const period = firstPeriod(subject, schedule);
    const elsewhere: Subject = Object.create(subject, { careUnit: { value: otherCareUnit } });
    if (connector.endSchedule) {
      await expectRejection(end(elsewhere, schedule, period.start), missing, 'An end at another care unit');
    }
    if (connector.addScheduleException) {
      await expectRejection(except(elsewhere, schedule, period), missing, 'An exception at another care unit');
    }
    expectSame(await find(careUnit, resourceId, scheduleId), schedule, 'A schedule after writes at another care unit');
  }),

  'a withdrawn write leaves nothing behind': claimed([createsSchedules], async (subject) => {
    const { connector, careUnit } = subject;
    const withdraw = operation(connector, 'withdrawSchedule');
    expectSame(await withdraw(careUnit, randomUUID()), 'withdrawn', 'Withdrawing a write that was never done');
    const { schedule, operationId: created } = await createdWithId(subject, { recurrence: 'FREQ=DAILY;COUNT=2' });
    const periods = periodsOn(subject, schedule, [0, 1]) as [Period, Period];
    if (connector.endSchedule) {
      const operationId = randomUUID();
      await end(subject, schedule, periods[1].start, { operationId });
      expectSame(await withdraw(careUnit, operationId), 'withdrawn', 'Withdrawing an end');
      expectSame(await operation(connector, 'findScheduleWrite')(careUnit, operationId), null, 'A withdrawn end');
      await expectSlots(subject, schedule, periods, 'Slots after an end was withdrawn');
    }
    if (connector.addScheduleException) {
      const operationId = randomUUID();
      await except(subject, schedule, periods[0], { operationId });
      expectSame(await withdraw(careUnit, operationId), 'withdrawn', 'Withdrawing an exception');
      await expectSlots(subject, schedule, periods, 'Slots after an exception was withdrawn');
    }
    for (let time = 0; time < 2; time++) {
      expectSame(await withdraw(careUnit, created), 'withdrawn', 'Withdrawing a new schedule');
    }
    const find = operation(connector, 'findSchedule');
    expectSame(await find(careUnit, schedule.resourceId, schedule.id), null, 'A schedule that was withdrawn');
    expectSame(await operation(connector, 'findScheduleWrite')(careUnit, created), null, 'A withdrawn write');
    expectSame(await slotsIn(subject, schedule, periods[0]), [], 'Slots of a schedule that was withdrawn');
  }),

  'a schedule whose slots are booked is not withdrawn': claimed(
    [createsSchedules, changes('cancel')],
    async (subject) => {
      needsBooking(subject);
      const { connector, careUnit } = subject;
      const { schedule, operationId } = await createdWithId(subject);
      const { first } = await slotsOfFirst(subject, schedule);
      await book(subject, { slot: first });
      const withdrawn = await operation(connector, 'withdrawSchedule')(careUnit, operationId);
      expectSame(withdrawn, 'changed', 'Withdrawing a schedule with an appointment');
      const found = await operation(connector, 'findSchedule')(careUnit, schedule.resourceId, schedule.id);
      expectSame(found, schedule, 'A schedule that was not withdrawn');
    },
  ),
});

/** For the first resource without another schedule at these times. */
async function createdForAnyResource(subject: Subject, asked: NewSchedule): Promise<TimedSchedule> {
  const [healthcareServiceId = ''] = asked.healthcareServiceIds;
  const resources = await operation(subject.connector, 'listResources')(subject.careUnit);
  for (const { id, healthcareServiceIds } of resources) {
    if (!healthcareServiceIds.includes(healthcareServiceId)) continue;
    try {
      return await create(subject, { ...asked, resourceId: id });
    } catch (error) {
      if (!isOverlap(error)) throw error;
    }
  }
  throw new NotChecked('every resource has another schedule in the night of the clock change');
}

function isOverlap(error: unknown): boolean {
  return error instanceof ConnectorError && error.kind === 'schedule_overlap';
}

const missing = ['schedule_not_found', 'resource_not_found'] as const;

function through({ connector, second }: Subject, index: number) {
  return index % 2 ? (second ?? connector) : connector;
}
