import { afterAll, expect, test } from 'vitest';
import { startFake } from '../../connectors/gp-connect/fake/server.ts';
import type { Problem } from '../gateway/gateway.ts';
import { freeSlots, local } from '../requests/bookings.ts';
import { type AppointmentResponse, careUnitOf } from '../requests/codes.ts';
import { newKey } from '../requests/idempotency-keys.ts';
import { booking, main, practiceEmr, startPracticeGateway } from './practice.ts';

const fake = await startFake({ days: 42 });
const gateway = await startPracticeGateway(practiceEmr(fake, { url: new URL(fake.url).origin }));
afterAll(async () => {
  await gateway.close();
  await fake.close();
});

test('a comment that the practice cannot take is a fault of the caller', async () => {
  const made = await (await booking(gateway, newKey(), undefined, 'x'.repeat(500)))();
  expect(made.status, made.text).toBe(201);
  const tooLong = { status: 400, body: { reason: 'request_invalid', errors: [{ pointer: '/comment' }] } };
  const seen = fake.seen.filter(({ method }) => method !== 'GET').length;
  expect(await (await booking(gateway, newKey(), undefined, 'x'.repeat(501)))()).toMatchObject(tooLong);
  const path = `${main}/appointments/${made.body.id}`;
  expect(await gateway.request('PATCH', path, { body: { comment: 'x'.repeat(501) } })).toMatchObject(tooLong);
  expect(fake.seen.filter(({ method }) => method !== 'GET')).toHaveLength(seen);
  const changed = await gateway.request('PATCH', path, { body: { comment: 'Brings a dog' } });
  expect(changed).toMatchObject({ status: 200, body: { comment: 'Brings a dog', modality: 'in_person' } });
});

test('the reason of a cancellation can be longer', async () => {
  const { body } = await (await booking(gateway, newKey()))();
  const cancelled = await gateway.request('PATCH', `${main}/appointments/${body.id}`, {
    body: { status: 'cancelled', comment: 'x'.repeat(501) },
  });
  expect(cancelled).toMatchObject({ status: 200, body: { status: 'cancelled', comment: 'x'.repeat(501) } });
});

test('a patient whom the practice does not have is not found, whatever the id looks like', async () => {
  for (const id of ['999999', 'nobody']) {
    const found = await gateway.request<Problem>('GET', `${main}/patients/emr_id:${id}`);
    expect([found.status, found.body.reason]).toEqual([404, 'patient_not_found']);
    const listed = await gateway.request<Problem>('GET', `${main}/appointments?patient_id=emr_id:${id}`);
    expect([listed.status, listed.body.reason]).toEqual([400, 'patient_not_found']);
  }
});

test('what belongs to one patient alone is not listed for all', async () => {
  const start = new Date().toISOString();
  const end = new Date(Date.now() + 86_400_000).toISOString();
  const { status, body } = await gateway.request<Problem>(
    'GET',
    `${main}/appointments?${new URLSearchParams({ start, end })}`,
  );
  expect([status, body.reason]).toEqual([501, 'operation_unsupported']);
});

const freeTimes = () => freeSlots(gateway, { careUnit: main, resourceId: '1', healthcareServiceId: 'gp' });

async function moveTo(id: string, slot: Awaited<ReturnType<typeof freeTimes>>[number] | undefined) {
  if (!slot) throw new Error('No free time');
  const body = { start: local(slot.start), end: local(slot.end) };
  return (await gateway.request('PATCH', `${main}/appointments/${id}`, { body })) as AppointmentResponse;
}

test('a move books the new time and cancels the former appointment', async () => {
  const { body: former } = await (await booking(gateway, newKey()))();
  const [to] = await freeTimes();
  const { status, body, text } = await moveTo(former.id, to);
  expect(status, text).toBe(200);
  expect(body).toMatchObject({ status: 'booked', start: to?.start, comment: 'Hello', supersedes_id: former.id });
  expect(body.id).not.toBe(former.id);
  const { get } = careUnitOf(gateway, main);
  expect(await get(former.id)).toMatchObject({ status: 'cancelled', comment: 'Hello' });
  expect(await get(body.id)).toMatchObject({ status: 'booked', supersedes_id: former.id });
  expect((await freeTimes()).map(({ start }) => start)).toContain(former.start);
});

test('a move to a time that is taken leaves the appointment as it is', async () => {
  const { body: mine } = await (await booking(gateway, newKey()))();
  const [to] = await freeTimes();
  const taken = fake.slots.find((it) => it.schedule.id === '1' && it.start === Date.parse(to?.start ?? ''));
  if (!taken) throw new Error('No slot');
  taken.isFree = false;
  expect(await moveTo(mine.id, to)).toMatchObject({ status: 400, body: { reason: 'time_slot_unavailable' } });
  expect(await careUnitOf(gateway, main).get(mine.id)).toMatchObject({ status: 'booked', start: mine.start });
});
