import { expect, test, vi } from 'vitest';
import type { Appointment, Patient, TimeSlot } from '../records.ts';
import { keptLists } from './kept-lists.ts';
import { datesIn, instantIn, localInstants } from './local-dates.ts';
import { newestPage } from './newest-first.ts';
import { oneChange } from './one-change.ts';
import { appointmentsFor, isSameTime, timeSlotsFor } from './order.ts';
import { identifiersOf, onlyPatient } from './people.ts';
import { readEach } from './read-each.ts';
import { standingIn } from './standings.ts';

const careUnit = { id: 'unit', timeZone: 'Europe/Oslo' };
const at = (hour: number) => new Date(Date.UTC(2030, 0, 1, hour));

test('a list is kept for a minute, read once for all callers, and read anew for what it lacks', async () => {
  const clock = vi.spyOn(performance, 'now').mockReturnValue(0);
  const lists: string[][] = [['a'], ['a', 'b'], ['c']];
  const read = vi.fn(async () => lists.shift() ?? []);
  const { get, find } = keptLists(read);
  expect(await Promise.all([get(), get()])).toEqual([['a'], ['a']]);
  clock.mockReturnValue(6_000);
  const b = () => find((it) => it.find((id) => id === 'b'));
  expect(await b()).toBe('b');
  clock.mockReturnValue(65_000);
  expect(await get()).toEqual(['a', 'b']);
  clock.mockReturnValue(66_000);
  expect(await get()).toEqual(['c']);
  expect(await b()).toBe(undefined);
  expect(read).toHaveBeenCalledTimes(3);
  clock.mockRestore();
});

test('a reading that fails is not kept', async () => {
  const read = vi.fn(async () => 'list').mockRejectedValueOnce(new Error('away'));
  const { get } = keptLists(read);
  await expect(get()).rejects.toThrow('away');
  expect(await get()).toBe('list');
});

test('appointments come by start and id, after a position, and up to a limit', () => {
  const appointment = (id: string, hour: number, more: Partial<Appointment> = {}): Appointment =>
    ({ id, state: 'booked', start: at(hour), end: at(hour + 1), resourceId: 'r', ...more }) as Appointment;
  const all = [
    appointment('c', 2),
    appointment('b', 1),
    appointment('a', 1),
    appointment('d', 3, { state: 'cancelled' }),
  ];
  const ids = (query: object) => appointmentsFor(all, { careUnit, limit: 10, ...query }).map(({ id }) => id);
  expect(ids({})).toEqual(['a', 'b', 'c', 'd']);
  expect(ids({ after: { start: at(1), id: 'a' }, limit: 2 })).toEqual(['b', 'c']);
  expect(ids({ states: ['cancelled'] })).toEqual(['d']);
  expect(ids({ range: { start: at(2), end: at(3) } })).toEqual(['c']);
  expect(ids({ resourceId: 'other' })).toEqual([]);
});

test('time slots come once, in order, inside the range, and not in the past', () => {
  const slot = (hour: number, resourceId = 'r'): TimeSlot => ({
    ...{ start: at(hour), end: at(hour + 1), resourceId },
    healthcareServiceId: 's',
  });
  const all = [slot(3), slot(2, 'b'), slot(2, 'a'), slot(2, 'a'), slot(0), slot(9)];
  const query = { careUnit, start: at(0), end: at(9), limit: 10 };
  const shown = (more: object) =>
    timeSlotsFor(all, { ...query, ...more }, at(1)).map((it) => [it.start.getUTCHours(), it.resourceId]);
  expect(shown({})).toEqual([
    [2, 'a'],
    [2, 'b'],
    [3, 'r'],
  ]);
  expect(shown({ after: slot(2, 'a'), limit: 1 })).toEqual([[2, 'b']]);
  expect(shown({ resourceIds: ['r'], healthcareServiceIds: ['s'] })).toEqual([[3, 'r']]);
});

test('dates of a range are local, and a time without an offset is none', () => {
  expect(
    datesIn('Asia/Kolkata', { start: new Date('2030-01-01T18:29:00Z'), end: new Date('2030-01-02T18:30:00Z') }),
  ).toEqual(['2030-01-01', '2030-01-02']);
  expect(datesIn('Asia/Kolkata', { start: at(1), end: at(1) })).toEqual([]);
  expect(instantIn('2030-01-01T09:00:00+05:30')).toEqual(new Date('2030-01-01T03:30:00Z'));
  for (const wrong of [null, 7, '2030-01-01', '2030-01-01T09:00:00', '2030-02-30T09:00:00Z']) {
    expect(instantIn(wrong)).toBe(undefined);
  }
});

test('a local time has one instant, none in a skipped hour, two in a repeated one', () => {
  const instants = (text: string) => localInstants('Europe/Stockholm', text).map((it) => it.toISOString().slice(5, 16));
  expect(instants('2031-03-30T02:30')).toEqual([]);
  expect(instants('2031-03-30T03:00:00')).toEqual(['03-30T01:00']);
  expect(instants('2031-10-26T02:30')).toEqual(['10-26T00:30', '10-26T01:30']);
  expect(['2031-02-29T10:00', '2031-01-01T24:30', 'soon'].flatMap(instants)).toEqual([]);
});

test('a status has a state and what it says of the attendance, and an unknown one has none', () => {
  const standings = { done: ['booked', 'completed'], missed: ['cancelled', 'no_show'] } as const;
  expect(standingIn(standings, 'done')).toEqual({ state: 'booked', attendance: 'completed', hasStarted: true });
  expect(standingIn(standings, 'missed')).toMatchObject({ state: 'cancelled', hasStarted: false });
  expect(['gone', 'toString'].map((it) => standingIn(standings, it))).toEqual([undefined, undefined]);
});

test('a patient who is found twice is one, and two are ambiguous', () => {
  const [a, b] = ['a', 'b'].map((id) => ({ id }) as Patient) as [Patient, Patient];
  expect([onlyPatient([]), onlyPatient([a, { ...a }])]).toEqual([null, a]);
  expect(() => onlyPatient([a, b])).toThrow(expect.objectContaining({ kind: 'patient_ambiguous' }));
  const own = { type: 'emr_id', value: 'a' };
  expect(identifiersOf('a', 'nhs_number', '1', undefined)).toEqual([own, { type: 'nhs_number', value: '1' }]);
  expect(identifiersOf('a')).toEqual([own]);
});

test('times are the same if both ends are', () => {
  const time = (end: Date | null) => ({ start: at(1), end });
  expect(isSameTime(time(at(2)), time(at(2)))).toBe(true);
  expect([time(at(3)), time(null), { start: at(0), end: at(2) }].map((it) => isSameTime(it, time(at(2))))).toEqual([
    false,
    false,
    false,
  ]);
});

test('one change at a time, and no holds', async () => {
  const cancel = async () => ({ id: 'made' }) as Appointment;
  const write = (changes: readonly object[]) => oneChange(careUnit, changes as never, { cancel });
  expect(await write([{ kind: 'cancel' }])).toEqual([{ id: 'made' }]);
  for (const changes of [
    [],
    [{ kind: 'cancel' }, { kind: 'cancel' }],
    [{ kind: 'create', holdUntil: null }],
    [{ kind: 'extend' }],
  ]) {
    await expect(write(changes)).rejects.toMatchObject({ kind: 'unsupported' });
  }
});

test('records that are read one by one: each id once, a few at a time, in order, without those that are absent', async () => {
  let [running, most] = [0, 0];
  const read = async (id: string) => {
    most = Math.max(most, ++running);
    await new Promise((resolve) => setImmediate(resolve));
    running--;
    return id === 'gone' ? null : `record ${id}`;
  };
  const ids = ['1', '2', 'gone', '3', '1', '4', '5', '6'];
  expect(await readEach(ids, read)).toEqual(['1', '2', '3', '4', '5', '6'].map((id) => `record ${id}`));
  expect(most).toBe(4);
});

test('a page of notes is newest first, then by id descending, and begins after a position', () => {
  const notes = [
    { id: '9', createdAt: new Date(1) },
    { id: '10', createdAt: new Date(1) },
    { id: '1', createdAt: new Date(2) },
  ];
  expect(newestPage(notes, { limit: 2 }).map(({ id }) => id)).toEqual(['1', '9']);
  expect(newestPage(notes, { limit: 2, after: { id: '9', createdAt: new Date(1) } }).map(({ id }) => id)).toEqual([
    '10',
  ]);
});
