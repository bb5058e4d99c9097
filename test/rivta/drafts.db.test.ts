import { afterAll, expect, test } from 'vitest';
import { patients } from '../../connectors/rivta-scheduling/fake/data-set.ts';
import { codeFor } from '../requests/codes.ts';
import { type Shown, startRegion, unit } from './region.ts';

const region = await startRegion('code');
const { fake, gateway, book, change } = region;
afterAll(region.close);

test('the id of a draft stays valid, also when the producer has the booking no more', async () => {
  const made = await book();
  expect([made.status, made.body.status], made.text).toEqual([201, 'awaiting_confirmation']);
  expect(fake.calendar.bookings.size).toBe(0);
  const { id } = made.body;
  const read = () => gateway.request<Shown>('GET', `${unit}/appointments/${encodeURIComponent(id)}`);
  const confirmed = await change(id, { confirmation: { code: await codeFor(gateway, id) } });
  expect([confirmed.status, confirmed.body.status], confirmed.text).toEqual([200, 'booked']);
  expect(fake.calendar.bookings.size).toBe(1);
  expect((await read()).body).toMatchObject({ id, status: 'booked' });
  const cancelled = await change(id, { status: 'cancelled' });
  expect([cancelled.status, cancelled.body.status], cancelled.text).toEqual([200, 'cancelled']);
  expect(fake.calendar.bookings.size).toBe(0);
  const gone = await read();
  expect([gone.status, gone.body], gone.text).toEqual([200, expect.objectContaining({ id, status: 'cancelled' })]);
  expect((await change(id, { status: 'cancelled' })).status).toBe(200);
  for (const { text } of [made, confirmed, cancelled, gone]) expect(text).not.toContain(patients.first.slice(2));
});
