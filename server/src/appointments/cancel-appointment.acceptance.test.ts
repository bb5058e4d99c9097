/** @module-tag any-database */
import { afterAll, expect, test } from 'vitest';
import { type Problem, startGateway } from '../../../test/gateway/gateway.ts';
import { type Appointment, bergen, book, freeSlot, freeSlots, oslo } from '../../../test/requests/bookings.ts';

const gateway = await startGateway();
afterAll(() => gateway.close());

const cancel = <Body = Appointment>(id: string, more: object = {}, careUnit = oslo) =>
  gateway.request<Body>('PATCH', `${careUnit}/appointments/${id}`, { body: { status: 'cancelled', ...more } });

const stored = async (id: string) => (await gateway.request<Appointment>('GET', `${oslo}/appointments/${id}`)).body;

test('a cancelled appointment keeps everything but its status, and its time is free', async () => {
  const slot = await freeSlot(gateway);
  const before = await book(gateway, { slot, comment: 'kept' });
  const { status, body } = await cancel(before.id);
  expect(status).toBe(200);
  expect(body).toEqual({ ...before, status: 'cancelled' });
  expect(await stored(before.id)).toEqual(body);
  expect((await freeSlots(gateway)).map((it) => it.start)).toContain(slot.start);
});

test.each([
  ['why', 'why'],
  ['', null],
  ['x'.repeat(2000), 'x'.repeat(2000)],
])('a comment replaces the previous one', async (comment, kept) => {
  const { id } = await book(gateway, { comment: 'old' });
  expect((await cancel(id, { comment })).body).toMatchObject({ id, status: 'cancelled', comment: kept });
});

test('a repeated cancellation returns the appointment unchanged', async () => {
  const { id } = await book(gateway, { comment: 'old' });
  const first = await cancel(id, { comment: 'why' });
  for (const more of [{}, { comment: 'another' }, { comment: '' }]) {
    const again = await cancel(id, more);
    expect(again.status).toBe(200);
    expect(again.body).toEqual(first.body);
  }
  expect(await stored(id)).toEqual(first.body);
});

test('another patient can book the time, and a repeated cancellation does not free it', {
  tags: 'every-ehr',
}, async () => {
  const slot = await freeSlot(gateway);
  const { id } = await book(gateway, { slot });
  await cancel(id);
  const other = await book(gateway, { slot, patientId: 'p-5' });
  await cancel(id);
  expect(await stored(other.id)).toEqual(other);
});

test('a past appointment can be cancelled', { tags: 'every-ehr' }, async () => {
  const { id } = await book(gateway);
  await gateway.ehr('sandbox-no').moveBack(id, 1000);
  expect(await cancel(id)).toMatchObject({ status: 200, body: { status: 'cancelled' } });
});

test('an appointment of another care unit is not found', async () => {
  const before = await book(gateway);
  expect(await cancel<Problem>(before.id, {}, bergen)).toMatchObject({
    status: 404,
    body: { reason: 'appointment_not_found', errors: [{ parameter: 'appointment_id' }] },
  });
  expect(await stored(before.id)).toEqual(before);
});

test.each([
  ['comment', 'x'.repeat(2001)],
  ['comment', null],
  ['comment', 'a\0b'],
  ['reason', 'ill'],
])('a wrong %s is rejected, and nothing is cancelled', async (field, value) => {
  const before = await book(gateway);
  expect(await cancel<Problem>(before.id, { [field]: value })).toMatchObject({
    status: 400,
    body: { reason: 'request_invalid', errors: [{ pointer: `/${field}`, reason: 'request_invalid' }] },
  });
  expect(await stored(before.id)).toEqual(before);
});
