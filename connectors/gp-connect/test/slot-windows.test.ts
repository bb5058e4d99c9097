import { expect, test } from 'vitest';
import { nextClockChange } from '../../../test/requests/clock-change-days.ts';
import { timeZone } from '../fake/uk-text.ts';
import { main, type Opened, openPractice } from './practice.ts';

const day = 24 * 60 * 60 * 1000;

/** The times of each search, as they were sent. */
function searches({ practice }: Opened): [start: string, end: string][] {
  return practice.seen
    .map(({ path }) => new URL(path, practice.url))
    .filter(({ pathname }) => pathname === '/Slot')
    .map(({ searchParams: it }) => [it.get('start')?.slice(2) ?? '', it.get('end')?.slice(2) ?? '']);
}

test('a search of two months is several of two weeks, and no slot is missing or twice', async () => {
  const opened = await openPractice({ days: 70 });
  const [start, end] = [new Date(), new Date(Date.now() + 61 * day)];
  const found = await opened.connector.listTimeSlots({ careUnit: main, start, end, resourceIds: ['1'], limit: 10_000 });
  const expected = opened.practice.slots
    .filter((it) => it.schedule.id === '1' && it.end <= end.getTime())
    .map((it) => it.start)
    .sort((a, b) => a - b);
  expect(found.map((it) => it.start.getTime())).toEqual(expected);
  const sent = searches(opened);
  expect(sent).toHaveLength(5);
  for (const [from, until] of sent) expect(Date.parse(until) - Date.parse(from)).toBeLessThanOrEqual(14 * day);
});

test.each(['spring', 'autumn'] as const)(
  'windows across the clock change in %s have the offsets of their days',
  async (season) => {
    const opened = await openPractice();
    const { instant, offsetBefore, offsetAfter } = nextClockChange(timeZone, season);
    const start = new Date(instant.epochMilliseconds - 7 * day);
    const end = new Date(instant.epochMilliseconds + 20 * day);
    const found = await opened.connector.listTimeSlots({ careUnit: main, start, end, resourceIds: ['1'], limit: 1000 });
    const sent = searches(opened);
    const [[first, second] = []] = sent;
    expect([first?.slice(-6), second?.slice(-6)]).toEqual([offsetBefore, offsetAfter]);
    // Two weeks at most, by a stop watch and by the clock on the wall.
    for (const [from, until] of sent) {
      expect(Date.parse(until) - Date.parse(from)).toBeLessThanOrEqual(14 * day);
      expect(onTheWall(until) - onTheWall(from)).toBeLessThanOrEqual(14 * day);
    }
    const night = opened.practice.nights.find(({ name }) => name.endsWith(season));
    if (!night) throw new Error('No such night');
    const ofNight = found.map((it) => it.start.getTime()).filter((at) => at >= +night.start && at < +night.end);
    expect(ofNight).toEqual(night.starts);
  },
);

test('a slot across the seam of two windows is found once', async () => {
  const opened = await openPractice({ days: 40 });
  const [schedule] = opened.practice.slots.map((it) => it.schedule);
  if (!schedule) throw new Error('No schedule');
  const start = new Date(Math.ceil(Date.now() / 1000) * 1000);
  for (const days of [13, 14, 26, 27]) {
    const seam = start.getTime() + days * day;
    const [from, until] = [seam - 60_000, seam + 60_000];
    (opened.practice.slots as unknown[]).push({ id: `seam-${days}`, schedule, start: from, end: until, isFree: true });
  }
  const end = new Date(start.getTime() + 40 * day);
  const found = await opened.connector.listTimeSlots({ careUnit: main, start, end, resourceIds: ['1'], limit: 10_000 });
  const short = found.filter((it) => it.end.getTime() - it.start.getTime() === 120_000);
  expect(short.map((it) => (it.start.getTime() + 60_000 - start.getTime()) / day)).toEqual([13, 14, 26, 27]);
});

test('a page asks for no more windows than it needs', async () => {
  const opened = await openPractice({ days: 70 });
  const [start, end] = [new Date(), new Date(Date.now() + 61 * day)];
  const page = await opened.connector.listTimeSlots({ careUnit: main, start, end, limit: 5 });
  expect([page.length, searches(opened).length]).toEqual([5, 1]);
});

test('slots tell how patient and practitioner meet', async () => {
  const opened = await openPractice();
  const [start, end] = [new Date(), new Date(Date.now() + 3 * day)];
  const found = await opened.connector.listTimeSlots({ careUnit: main, start, end, limit: 1000 });
  const modalities = new Map(found.map(({ resourceId, modality }) => [resourceId, modality]));
  expect(Object.fromEntries(modalities)).toEqual({ 1: 'in_person', 2: 'phone' });
});

/** Milliseconds, as if the local time were UTC. */
function onTheWall(text: string): number {
  return Date.parse(`${text.slice(0, 19)}Z`);
}
