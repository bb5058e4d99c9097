import { afterAll, beforeEach, expect, test } from 'vitest';
import type { Booking } from '../../connectors/rivta-scheduling/fake/calendar.ts';
import { finalResponse, nextCall, settledResponse } from '../gateway/recovery.ts';
import { backdateWrites, eventually } from '../requests/codes.ts';
import { newKey } from '../requests/idempotency-keys.ts';
import { type Creation, startRegion } from './region.ts';

const region = await startRegion();
const { fake, proxy, gateway, book, bodyOf, change, sent } = region;
afterAll(region.close);
beforeEach(region.restore);

const unknown = { status: 504, body: { reason: 'outcome_unknown' } };
const givenUp = { status: 504, body: { reason: 'outcome_unknown', retryable: false } };
const requestOf =
  (operation: string) =>
  ({ path }: { readonly path: string }) =>
    path === `/${operation}`;
const onlyBooking = (): Booking => {
  const [booking, another] = fake.calendar.bookings.values();
  if (!booking || another) throw new Error('There is not one booking');
  return booking;
};

/** Moves the only booking. Returns the new start, as the producer writes it. */
function moveByStaff({ start_time }: Creation): string {
  const booking = onlyBooking();
  const start = start_time.replaceAll(/\D/g, '');
  const slot = fake.calendar.slots.find((it) => it.start === start && it.resource.id === booking.slot.resource.id);
  if (!slot) throw new Error('No such slot');
  booking.slot = slot;
  return start;
}

test('a booking whose answer is lost is found by the retry, and made once', async () => {
  const [body, key] = [await bodyOf(), newKey()];
  fake.mishaps.set('MakeBooking', ['answer lost']);
  fake.mishaps.set('GetSubjectOfCareSchedule', [{ fault: 'VP009' }, { fault: 'VP009' }]);
  expect((await book(body, key)).status).toBeGreaterThanOrEqual(500);
  const { status, text } = await finalResponse(() => book(body, key));
  expect(status, text).toBe(201);
  expect(fake.calendar.bookings.size).toBe(1);
});

test('a cancellation whose answer is lost is found by the retry, because the booking is gone', async () => {
  const [made, key] = [await book(), newKey()];
  fake.mishaps.set('CancelBooking', ['answer lost']);
  const cancel = () => change(made.body.id, { status: 'cancelled' }, key);
  await cancel();
  expect(await finalResponse(cancel)).toMatchObject({ status: 200, body: { status: 'cancelled' } });
  expect(fake.calendar.bookings.size).toBe(0);
});

test('a comment whose answer is lost is found by the retry, although XML cannot carry all of it', async () => {
  const [made, key, before] = [await book(), newKey(), sent('UpdateBooking')];
  fake.mishaps.set('UpdateBooking', ['answer lost']);
  const update = () => change(made.body.id, { comment: ' Ont\u0007\r\ni knät ' }, key);
  await update();
  expect(await finalResponse(update)).toMatchObject({ status: 200, body: { comment: 'Ont\ni knät' } });
  expect(sent('UpdateBooking') - before).toBe(1);
});

test('a booking that the producer makes late, after a retry, is found and made once', async () => {
  const [body, key, before] = [await bodyOf(), newKey(), sent('MakeBooking')];
  const late = proxy.deliverLate(requestOf('MakeBooking'));
  expect(await book(body, key)).toMatchObject(unknown);
  expect(await settledResponse(() => book(body, key))).toMatchObject(unknown);
  await late.finish();
  const { status, text } = await finalResponse(() => book(body, key));
  expect(status, text).toBe(201);
  expect([fake.calendar.bookings.size, sent('MakeBooking') - before]).toEqual([1, 1]);
});

test('a move that the producer makes late, after a retry, is found and made once', async () => {
  const [made, to, key, before] = [await book(), await bodyOf(), newKey(), sent('UpdateBooking')];
  const move = () => change(made.body.id, { start: to.start_time, end: to.end_time }, key);
  const late = proxy.deliverLate(requestOf('UpdateBooking'));
  expect(await move()).toMatchObject(unknown);
  expect(await settledResponse(move)).toMatchObject(unknown);
  await late.finish();
  const { status, body, text } = await finalResponse(move);
  expect([status, body.id, body.start.slice(0, 19)], text).toEqual([200, made.body.id, to.start_time]);
  expect([fake.calendar.bookings.size, sent('UpdateBooking') - before]).toEqual([1, 1]);
});

test('a late booking that two writes may have made is that of one of them', async () => {
  const [body, lost, late, before] = [await bodyOf(), newKey(), newKey(), sent('MakeBooking')];
  proxy.deliverLate(requestOf('MakeBooking'));
  expect(await book(body, lost)).toMatchObject(unknown);
  const second = proxy.deliverLate(requestOf('MakeBooking'));
  expect(await book(body, late)).toMatchObject(unknown);
  await second.finish();
  // Each may be the one that made it.
  for (const key of [lost, late]) expect(await settledResponse(() => book(body, key))).toMatchObject(unknown);
  const responses = await eventually(async () => {
    await backdateWrites(gateway);
    const both = [await book(body, lost), await book(body, late)];
    expect(both.map(({ status }) => status).sort()).toEqual([201, 504]);
    expect(both.find(({ status }) => status === 504)).toMatchObject(givenUp);
    return both;
  });
  expect(await Promise.all([book(body, lost), book(body, late)])).toMatchObject(
    responses.map(({ status, body: { id } }) => (id === undefined ? { status } : { status, body: { id } })),
  );
  expect([fake.calendar.bookings.size, sent('MakeBooking') - before]).toEqual([1, 1]);
});

test('a booking that never arrives is not sent again', async () => {
  const [body, key, before] = [await bodyOf(), newKey(), sent('MakeBooking')];
  proxy.deliverLate(requestOf('MakeBooking'));
  expect(await book(body, key)).toMatchObject(unknown);
  await eventually(async () => {
    await backdateWrites(gateway);
    expect(await book(body, key)).toMatchObject(givenUp);
  });
  expect([fake.calendar.bookings.size, sent('MakeBooking') - before]).toEqual([0, 0]);
});

test('a booking by a producer that then stays away, for the retry and recovery too, is found when it returns', async () => {
  const [body, key, before] = [await bodyOf(), newKey(), sent('MakeBooking')];
  proxy.commitThenGoDown(requestOf('MakeBooking'));
  expect(await book(body, key)).toMatchObject(unknown);
  await nextCall(gateway, 'rivta', 'unavailable');
  expect((await settledResponse(() => book(body, key))).status).toBe(504);
  await proxy.comeUp();
  const { status, text } = await finalResponse(() => book(body, key));
  expect(status, text).toBe(201);
  expect([fake.calendar.bookings.size, sent('MakeBooking') - before]).toEqual([1, 1]);
});

test('a cancellation by a producer that then stays away is found when it returns', async () => {
  const [made, key, before] = [await book(), newKey(), sent('CancelBooking')];
  const cancel = () => change(made.body.id, { status: 'cancelled' }, key);
  proxy.commitThenGoDown(requestOf('CancelBooking'));
  expect(await cancel()).toMatchObject(unknown);
  await nextCall(gateway, 'rivta', 'unavailable');
  await proxy.comeUp();
  expect(await finalResponse(cancel)).toMatchObject({ status: 200, body: { status: 'cancelled' } });
  expect([fake.calendar.bookings.size, sent('CancelBooking') - before]).toEqual([0, 1]);
});

test.each([
  ['cancel', 0],
  ['move', 1],
])('a booking whose answer is lost is not made again if staff %s it before anybody looks', async (what, left) => {
  const [body, elsewhere, key, before] = [await bodyOf(), await bodyOf(), newKey(), sent('MakeBooking')];
  fake.mishaps.set('MakeBooking', ['answer lost']);
  fake.before = async (operation) => {
    if (operation !== 'GetSubjectOfCareSchedule') return;
    fake.before = async () => undefined;
    if (what === 'cancel') fake.calendar.bookings.clear();
    else moveByStaff(elsewhere);
  };
  expect(await book(body, key)).toMatchObject(unknown);
  await eventually(async () => {
    await backdateWrites(gateway);
    expect(await book(body, key)).toMatchObject(givenUp);
  });
  expect([fake.calendar.bookings.size, sent('MakeBooking') - before]).toEqual([left, 1]);
});

test('a move whose answer is lost, and that staff move on, is not made again', async () => {
  const [made, to, elsewhere, key] = [await book(), await bodyOf(), await bodyOf(), newKey()];
  const move = () => change(made.body.id, { start: to.start_time, end: to.end_time }, key);
  const before = sent('UpdateBooking');
  proxy.commitThenGoDown(requestOf('UpdateBooking'));
  expect(await move()).toMatchObject(unknown);
  const start = moveByStaff(elsewhere);
  await proxy.comeUp();
  await eventually(async () => {
    await backdateWrites(gateway);
    expect(await move()).toMatchObject(givenUp);
  });
  expect([onlyBooking().slot.start, sent('UpdateBooking') - before]).toEqual([start, 1]);
});
