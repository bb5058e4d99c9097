/** @module-tag any-database */
import { afterAll, expect, test } from 'vitest';
import { type Problem, startGateway } from '../../../test/gateway/gateway.ts';
import { bergen, book, oslo, riverside } from '../../../test/requests/bookings.ts';

const gateway = await startGateway();
afterAll(() => gateway.close());

test('returns an appointment as Create returned it', { tags: 'every-ehr' }, async () => {
  for (const careUnit of [oslo, riverside]) {
    const made = await book(gateway, { careUnit, comment: 'Hei' });
    const { status, body } = await gateway.request('GET', `${careUnit}/appointments/${made.id}`);
    expect(status).toBe(200);
    expect(body).toEqual(made);
  }
});

test('an appointment of another care unit or EHR is not found', { tags: 'every-ehr' }, async () => {
  const { id } = await book(gateway);
  const inBergen = await book(gateway, { careUnit: bergen, resourceId: 'r-6' });
  for (const [careUnit, of] of [
    [bergen, id],
    [riverside, id],
    [oslo, inBergen.id],
  ]) {
    expect(await gateway.request<Problem>('GET', `${careUnit}/appointments/${of}`)).toMatchObject({
      status: 404,
      body: { reason: 'appointment_not_found', errors: [{ parameter: 'appointment_id' }] },
    });
  }
});

test.each(['nothing', '00000000-0000-4000-8000-000000000000', '__proto__', 'æ', "' OR 1=1 --", '%', 'x'.repeat(600)])(
  'the unknown id %s is not found',
  async (id) => {
    const path = `${oslo}/appointments/${encodeURIComponent(id)}`;
    expect(await gateway.request<Problem>('GET', path)).toMatchObject({
      status: 404,
      body: { reason: 'appointment_not_found', errors: [{ parameter: 'appointment_id' }] },
    });
  },
);

test('an id that no database can store is rejected', async () => {
  expect(await gateway.request<Problem>('GET', `${oslo}/appointments/a%00b`)).toMatchObject({
    status: 400,
    body: { reason: 'request_invalid', errors: [{ parameter: 'appointment_id' }] },
  });
});

test('query parameters are rejected', async () => {
  const { id } = await book(gateway);
  expect(await gateway.request<Problem>('GET', `${oslo}/appointments/${id}?expand=patient`)).toMatchObject({
    status: 400,
    body: { reason: 'request_invalid', errors: [{ parameter: 'expand' }] },
  });
});
