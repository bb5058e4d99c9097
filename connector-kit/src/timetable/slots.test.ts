import fc from 'fast-check';
import { RRuleTemporal } from 'rrule-temporal';
import { Temporal } from 'temporal-polyfill';
import { describe, expect, test, vi } from 'vitest';
import { nextClockChange, timeZones } from '../../../test/requests/clock-change-days.ts';
import type { Timetable } from '../schedules.ts';
import { slotsOf } from './slots.ts';

const minute = 60_000;
const hour = 60 * minute;

function schedule(
  localStart: string,
  localEnd: string,
  recurrence: string | null = 'FREQ=DAILY',
  slotMinutes = 30,
): Timetable {
  return { localStart, localEnd, slotMinutes, recurrence, endsAt: null, exceptions: [] };
}

function startOfDay(date: Temporal.PlainDate, timeZone: string): Date {
  return new Date(date.toZonedDateTime(timeZone).epochMilliseconds);
}

function dayOf(date: Temporal.PlainDate, timeZone: string) {
  return { start: startOfDay(date, timeZone), end: startOfDay(date.add({ days: 1 }), timeZone) };
}

function localTime(instant: Date, timeZone: string): string {
  return Temporal.Instant.fromEpochMilliseconds(instant.getTime())
    .toZonedDateTimeISO(timeZone)
    .toString({ timeZoneName: 'never', smallestUnit: 'minute' })
    .slice(11);
}

describe.each(timeZones)('in %s', (timeZone) => {
  describe.each([
    ['spring', 23],
    ['autumn', 25],
  ] as const)('on the day of the clock change in %s', (season, hours) => {
    const change = nextClockChange(timeZone, season);
    const window = dayOf(change.date, timeZone);

    test(`an all-day schedule has ${hours} hours of consecutive slots`, () => {
      const slots = slotsOf(schedule('2024-01-01T00:00:00', '2024-01-02T00:00:00'), timeZone, window);
      expect(slots).toHaveLength(hours * 2);
      expect(slots[0]?.start).toEqual(window.start);
      expect(slots.at(-1)?.end).toEqual(window.end);
      slots.forEach((slot, index) => {
        expect(slot.end.getTime() - slot.start.getTime()).toBe(30 * minute);
        if (index > 0) expect(slot.start).toEqual(slots[index - 1]?.end);
      });
    });

    test('a night shift ends at its local end time', () => {
      const evening = change.date.subtract({ days: 1 });
      const night = { start: startOfDay(evening, timeZone), end: window.end };
      const nights = slotsOf(schedule('2024-01-01T22:00:00', '2024-01-02T06:00:00'), timeZone, night);
      const slots = nights.filter((slot) => slot.start.getTime() >= window.start.getTime() - 2 * hour);
      const thisNight = slots.filter((slot) => slot.start.getTime() < window.start.getTime() + 12 * hour);
      expect(thisNight).toHaveLength((hours - 24 + 8) * 2);
      expect(localTime(thisNight[0]?.start ?? new Date(0), timeZone)).toMatch(/^22:00/);
      expect(localTime(thisNight.at(-1)?.end ?? new Date(0), timeZone)).toBe(`06:00${change.offsetAfter}`);
    });

    test('daytime slots keep their local times', () => {
      const slots = slotsOf(schedule('2024-01-01T08:00:00', '2024-01-01T12:00:00'), timeZone, window);
      expect(slots.map((slot) => localTime(slot.start, timeZone))).toEqual(
        ['08:00', '08:30', '09:00', '09:30', '10:00', '10:30', '11:00', '11:30'].map((it) => it + change.offsetAfter),
      );
    });

    test('slots on the days before and after have the offset of their day', () => {
      for (const [date, offset] of [
        [change.date.subtract({ days: 1 }), change.offsetBefore],
        [change.date.add({ days: 1 }), change.offsetAfter],
      ] as const) {
        const slots = slotsOf(schedule('2024-01-01T08:00:00', '2024-01-01T09:00:00'), timeZone, dayOf(date, timeZone));
        expect(slots.map((slot) => localTime(slot.start, timeZone))).toEqual([`08:00${offset}`, `08:30${offset}`]);
      }
    });

    test('slots never overlap, for any start hour', () => {
      for (let begin = 0; begin < 24; begin++) {
        const from = Temporal.PlainDateTime.from('2024-01-01T00:00:00').add({ hours: begin });
        const daily = schedule(
          from.toString({ smallestUnit: 'second' }),
          from.add({ hours: 4 }).toString({ smallestUnit: 'second' }),
        );
        const wide = {
          start: new Date(window.start.getTime() - 48 * hour),
          end: new Date(window.end.getTime() + 48 * hour),
        };
        const slots = slotsOf(daily, timeZone, wide);
        slots.forEach((slot, index) => {
          const before = slots[index - 1];
          if (before) expect(slot.start.getTime()).toBeGreaterThanOrEqual(before.end.getTime());
        });
      }
    });
  });
});

test('occurrences of almost a day do not overlap when the clock skips the end of one', () => {
  const { date } = nextClockChange('Europe/Oslo', 'spring');
  const from = { start: startOfDay(date.subtract({ days: 2 }), 'Europe/Oslo') };
  const window = { ...from, end: startOfDay(date.add({ days: 3 }), 'Europe/Oslo') };
  const slots = slotsOf(schedule('2024-01-01T03:15:00', '2024-01-02T02:45:00'), 'Europe/Oslo', window);
  expect(slots.length).toBeGreaterThan(4 * 45);
  slots.forEach((slot, index) => {
    expect(slot.start.getTime()).toBeGreaterThanOrEqual(slots[index - 1]?.end.getTime() ?? 0);
  });
});

test('a schedule without a recurrence has one occurrence', () => {
  const once = schedule('2030-05-06T08:00:00', '2030-05-06T09:00:00', null);
  const week = { start: new Date('2030-05-01T00:00:00Z'), end: new Date('2030-05-14T00:00:00Z') };
  expect(slotsOf(once, 'Europe/Oslo', week).map((slot) => slot.start.toISOString())).toEqual([
    '2030-05-06T06:00:00.000Z',
    '2030-05-06T06:30:00.000Z',
  ]);
  expect(slotsOf(once, 'Europe/Oslo', { start: week.end, end: new Date('2032-01-01T00:00:00Z') })).toEqual([]);
});

test('a remainder shorter than a slot is ignored', () => {
  const day = { start: new Date('2030-05-06T00:00:00Z'), end: new Date('2030-05-07T00:00:00Z') };
  const slots = slotsOf(schedule('2024-01-01T08:00:00', '2024-01-01T09:30:00', 'FREQ=DAILY', 40), 'Europe/Oslo', day);
  expect(slots.map((slot) => localTime(slot.end, 'Europe/Oslo').slice(0, 5))).toEqual(['08:40', '09:20']);
});

test('a window contains exactly the slots that lie wholly inside it', () => {
  const timeZone = 'Europe/Oslo';
  const { date } = nextClockChange(timeZone, 'spring');
  const origin = startOfDay(date.subtract({ days: 3 }), timeZone).getTime();
  const week = { start: new Date(origin - 48 * hour), end: new Date(origin + 12 * 24 * hour) };
  for (const [from, to] of [
    ['08:00:00', '12:00:00'],
    ['00:00:00', '23:30:00'],
    ['01:15:00', '04:45:00'],
  ]) {
    const daily = schedule(`2024-01-01T${from}`, `2024-01-01T${to}`, 'FREQ=WEEKLY;BYDAY=MO,WE,FR,SA,SU');
    const all = slotsOf(daily, timeZone, week);
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 7 * 24 * 60 }),
        fc.integer({ min: 1, max: 3 * 24 * 60 }),
        (offset, length) => {
          const start = new Date(origin + offset * minute);
          const end = new Date(start.getTime() + length * minute);
          expect(slotsOf(daily, timeZone, { start, end })).toEqual(
            all.filter((slot) => slot.start >= start && slot.end <= end),
          );
        },
      ),
      { numRuns: 60 },
    );
  }
});

test.each(['FREQ=DAILY;BYMONTH=1,2,3,4,5,6,7,8,9,10,11,12', 'FREQ=WEEKLY;BYDAY=FR,SA,SU;BYSETPOS=1,-1', 'FREQ=DAILY'])(
  '%s with COUNT is counted once, however many weeks are read, and ends like one with UNTIL',
  (rule) => {
    // The library begins with the first occurrence for each window of a rule with COUNT.
    const counted = vi.spyOn(RRuleTemporal.prototype, 'all');
    const read = vi.spyOn(RRuleTemporal.prototype, 'between');
    const window = { start: new Date('2027-01-01T00:00:00Z'), end: new Date('2032-01-01T00:00:00Z') };
    const slots = (recurrence: string) =>
      slotsOf(schedule('2027-01-01T08:00:00', '2027-01-01T09:00:00', recurrence, 60), 'Europe/Oslo', window);
    const found = slots(`${rule};COUNT=500`);
    expect(found).toHaveLength(500);
    expect(counted).toHaveBeenCalledTimes(1);
    expect(read.mock.contexts.length).toBeGreaterThan(100);
    expect(read.mock.contexts.filter((it) => (it as RRuleTemporal).options().count !== undefined)).toEqual([]);
    const last = found
      .at(-1)
      ?.start.toISOString()
      .replaceAll(/[-:]|\.000/g, '');
    expect(slots(`${rule};UNTIL=${last}`)).toEqual(found);
    vi.restoreAllMocks();
  },
);
