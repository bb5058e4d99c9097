import { afterAll, expect, test } from 'vitest';
import { book, creationBody, freeSlot, riverside, sodermalm } from '../../../test/bookings.ts';
import { type Problem, startGateway } from '../../../test/gateway.ts';

const gateway = await startGateway();
afterAll(() => gateway.close());

test('booking where it waits for a code is not offered', async () => {
  const slot = await freeSlot(gateway, { careUnit: sodermalm });
  const answer = await gateway.request<Problem>('POST', `${sodermalm}/appointments`, { body: creationBody(slot) });
  expect(answer).toMatchObject({ status: 501, body: { reason: 'operation_unsupported' } });
  expect(await freeSlot(gateway, { careUnit: sodermalm })).toEqual(slot);
});

test('cancelling where it waits for a code is not offered', async () => {
  const before = await book(gateway, { careUnit: riverside });
  const path = `${riverside}/appointments/${before.id}`;
  const answer = await gateway.request<Problem>('PATCH', path, { body: { status: 'cancelled' } });
  expect(answer).toMatchObject({ status: 501, body: { reason: 'operation_unsupported' } });
  expect((await gateway.request('GET', path)).body).toEqual(before);
});
