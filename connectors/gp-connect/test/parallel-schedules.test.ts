import { expect, test } from 'vitest';
import { parallelSchedule, type Schedule } from '../fake/data-set.ts';
import type { SeenRequest } from '../fake/server.ts';
import { change, creation, freeSlot, freeSlots, type Opened, openPractice } from './practice.ts';

const isBooking = ({ method }: SeenRequest) => method === 'POST';

/** Somebody takes the last slot that the connector is about to book, for each of the first bookings. */
function beFaster({ practice }: Opened, times: number): void {
  let left = times;
  practice.misbehave = (request) => {
    const ids = isBooking(request) ? [...request.body.matchAll(/Slot\/(\d+)/g)].map(([, id]) => id) : [];
    const slot = practice.slots.find((it) => it.id === ids.at(-1));
    if (slot && left-- > 0) slot.isFree = false;
    return undefined;
  };
}

const posts = ({ practice }: Opened) => practice.seen.filter(isBooking).length;

test('a time of two schedules is shown once, and the second is booked if somebody takes the first', async () => {
  const opened = await openPractice({ moreSchedules: [parallelSchedule] });
  const slots = await freeSlots(opened);
  expect(new Set(slots.map(({ start }) => start.getTime())).size).toBe(slots.length);
  beFaster(opened, 1);
  const [slot] = slots;
  const made = await change(opened, creation(slot ?? (await freeSlot(opened))));
  expect(made).toMatchObject({ start: slot?.start, resourceId: '1' });
  expect(posts(opened)).toBe(2);
  expect(opened.practice.appointments.all()).toHaveLength(1);
});

test('adjacent slots are those of one schedule, and both are of the other if somebody takes one of them', async () => {
  const opened = await openPractice({ moreSchedules: [parallelSchedule] });
  const [first, second] = await freeSlots(opened);
  beFaster(opened, 1);
  await change(opened, creation({ ...(first ?? (await freeSlot(opened))), end: second?.end ?? new Date() }));
  const [booked] = opened.practice.appointments.all();
  expect(new Set(booked?.slots.map((it) => it.schedule.id)).size).toBe(1);
  expect([booked?.slots.length, posts(opened)]).toEqual([2, 2]);
});

test('if both are taken, the time is not free', async () => {
  const opened = await openPractice({ moreSchedules: [parallelSchedule] });
  beFaster(opened, 2);
  const booked = change(opened, creation(await freeSlot(opened)));
  await expect(booked).rejects.toMatchObject({ kind: 'time_slot_unavailable' });
  expect(posts(opened)).toBe(2);
});

test('a slot by telephone does not take the place of one at the practice, and the one that is shown is the one booked', async () => {
  const byTelephone: Schedule = { ...parallelSchedule, channel: 'Telephone' };
  const opened = await openPractice({ moreSchedules: [byTelephone] });
  const slot = await freeSlot(opened);
  beFaster(opened, 1);
  await expect(change(opened, creation(slot))).rejects.toMatchObject({ kind: 'time_slot_unavailable' });
  expect(posts(opened)).toBe(1);
  const now = await freeSlot(opened);
  expect([slot.modality, now.start, now.modality]).toEqual(['in_person', slot.start, 'phone']);
  expect(await change(opened, creation(now))).toMatchObject({ modality: 'phone' });
});

test('a booking whose outcome is unknown is not tried in the other schedule', async () => {
  const opened = await openPractice({ moreSchedules: [parallelSchedule] });
  const slot = await freeSlot(opened);
  opened.practice.misbehave = (request) => (isBooking(request) ? 'cut_after' : undefined);
  await expect(change(opened, creation(slot))).rejects.toMatchObject({ kind: 'outcome_unknown' });
  expect(posts(opened)).toBe(1);
});
