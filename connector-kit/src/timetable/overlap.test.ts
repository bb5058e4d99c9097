import { expect, test } from 'vitest';
import type { Timetable } from '../schedules.ts';
import { openPeriodsInParts, openPeriodsOf, periodsOverlap } from './overlap.ts';

const timetable = {
  localStart: '2027-01-01T08:00:00',
  localEnd: '2027-01-01T16:00:00',
  slotMinutes: 30,
  recurrence: 'FREQ=DAILY;BYMONTH=1,2,3,4,5,6,7,8,9,10,11,12;COUNT=1000',
  endsAt: null,
  exceptions: [{ start: new Date('2027-05-03T08:00:00Z'), end: new Date('2027-05-03T09:00:00Z') }],
} satisfies Timetable;
// The second part begins at 9:30 UTC, in the middle of an occurrence.
const window = { start: new Date('2027-01-01T09:30:00Z'), end: new Date('2029-01-01T09:30:00Z') };
const minutes = (periods: readonly { readonly start: Date; readonly end: Date }[]) =>
  periods.reduce((sum, { start, end }) => sum + (end.getTime() - start.getTime()) / 60_000, 0);

test('the periods of two years are found in parts, and the event loop runs between them', async () => {
  let turns = 0;
  let isRunning = true;
  const turn = () => {
    turns++;
    if (isRunning) setImmediate(turn);
  };
  setImmediate(turn);
  const found = await openPeriodsInParts(timetable, 'Europe/Oslo', window);
  isRunning = false;
  expect(turns).toBeGreaterThan(7);
  const whole = openPeriodsOf(timetable, 'Europe/Oslo', window);
  const [first, last] = [whole[0], whole.at(-1)];
  if (!first || !last) throw new Error('No periods');
  const outside = minutes([
    { start: first.start, end: window.start },
    { start: window.end, end: last.end },
  ]);
  expect(minutes(found)).toBe(minutes(whole) - outside);
  expect(found.every(({ start }, index) => index === 0 || start >= (found[index - 1]?.end ?? start))).toBe(true);
  // An overlap after the boundary of two parts, with a period that begins before it.
  const after = { start: new Date('2027-04-02T09:40:00Z'), end: new Date('2027-04-02T09:50:00Z') };
  expect(periodsOverlap(found, [after])).toBe(true);
});

test('the last period of a schedule that has ended is whole', async () => {
  const ended = { ...timetable, endsAt: new Date('2027-01-03T08:00:00Z') };
  expect(await openPeriodsInParts(ended, 'Europe/Oslo', window)).toEqual([
    { start: window.start, end: new Date('2027-01-01T15:00:00Z') },
    { start: new Date('2027-01-02T07:00:00Z'), end: new Date('2027-01-02T15:00:00Z') },
    { start: new Date('2027-01-03T07:00:00Z'), end: new Date('2027-01-03T15:00:00Z') },
  ]);
});
