import { afterAll, beforeEach, expect, test } from 'vitest';
import { north, patients, timeZone } from '../../connectors/rivta-scheduling/fake/data-set.ts';
import { startFake } from '../../connectors/rivta-scheduling/fake/server.ts';
import { settingsFor } from '../../connectors/rivta-scheduling/test/subject.ts';
import { details } from '../../connectors/rivta-scheduling/test/with-fake.ts';
import { resolveConnection } from '../../server/src/config/connection.ts';
import { resolvePatientPage } from '../../server/src/config/patient-page.ts';
import { resolvePolicies } from '../../server/src/config/policies.ts';
import { startGateway } from '../gateway/gateway.ts';
import { finalResponse } from '../gateway/recovery.ts';
import { newKey } from '../requests/idempotency-keys.ts';

const fake = await startFake({ days: 5 });
const policies = resolvePolicies({ booking_confirmation: 'none' });
const emr = {
  id: 'rivta',
  name: 'Region',
  connector: 'rivta-scheduling',
  settings: settingsFor(fake),
  synthetic_identifiers: true,
  connection: resolveConnection({ allow_private_addresses: true, requests_per_second: 100 }),
  policies,
  care_units: [
    {
      id: 'norr',
      name: 'Norr',
      time_zone: timeZone,
      language: 'sv' as const,
      policies,
      patient_page: resolvePatientPage(),
      settings: { healthcare_facility: north.hsaId },
    },
  ],
};
const gateway = await startGateway({
  logLevel: 'trace',
  configure: (demo) => ({
    ...demo,
    emrs: [emr],
    clients: demo.clients.map((it) => ({ ...it, grants: [{ emr: 'rivta', care_units: ['norr'] }] })),
  }),
});
afterAll(async () => {
  await gateway.close();
  await fake.close();
});
beforeEach(() => {
  fake.calendar.bookings.clear();
  fake.mishaps.clear();
  fake.behaviour.info = undefined;
  fake.behaviour.refusal = undefined;
});

const unit = '/api/emrs/rivta/care-units/norr';
const patient = `se_personal_number:${patients.first}`;
const patient_details = { given_name: details.givenName, family_name: details.familyName, phone: details.phone };

interface Shown {
  readonly id: string;
  readonly status: string;
  readonly start: string;
  readonly patient_id: string;
  readonly notice: string | null;
  readonly reason?: string;
  readonly detail?: string;
}

async function bodyOf(index = 0): Promise<object> {
  const query = new URLSearchParams({
    start: new Date().toISOString(),
    end: new Date(Date.now() + 6 * 86_400_000).toISOString(),
    resource_id: 'hsa_id:SE2321000000-P001',
    healthcare_service_id: 'besok',
  });
  const { body } = await gateway.request<{ timeslots: { start: string; end: string }[] }>(
    'GET',
    `${unit}/timeslots?${query}`,
  );
  const slot = body.timeslots[index];
  if (!slot) throw new Error(`No free slot: ${JSON.stringify(body)}`);
  return {
    patient_id: patient,
    resource_id: 'hsa_id:SE2321000000-P001',
    healthcare_service_id: 'besok',
    start_time: slot.start.slice(0, 19),
    end_time: slot.end.slice(0, 19),
    patient_details,
  };
}

async function book(body?: object, key = newKey()) {
  return gateway.request<Shown>('POST', `${unit}/appointments`, {
    body: body ?? (await bodyOf()),
    headers: { 'idempotency-key': key },
  });
}

test('books, reads, moves and cancels, and no text that leaves the gateway has the number of the patient', async () => {
  fake.behaviour.info = 'Kom fastande.';
  const made = await book();
  expect(made.status, made.text).toBe(201);
  expect(made.body).toMatchObject({ status: 'booked', notice: 'Kom fastande.' });
  const path = `${unit}/appointments/${encodeURIComponent(made.body.id)}`;
  const read = await gateway.request<Shown>('GET', path);
  expect([read.status, read.body.id, read.body.notice]).toEqual([200, made.body.id, null]);
  const list = await gateway.request('GET', `${unit}/appointments?patient_id=${patient}`);
  expect(list.status, list.text).toBe(200);
  const { start_time, end_time } = (await bodyOf(3)) as { start_time: string; end_time: string };
  const moved = await gateway.request<Shown>('PATCH', path, {
    body: { start: start_time, end: end_time },
    headers: { 'idempotency-key': newKey() },
  });
  expect([moved.status, moved.body.id], moved.text).toEqual([200, made.body.id]);
  const cancelled = await gateway.request<Shown>('PATCH', path, {
    body: { status: 'cancelled' },
    headers: { 'idempotency-key': newKey() },
  });
  expect(cancelled.status, cancelled.text).toBe(200);
  expect((await gateway.request('GET', path)).status).toBe(404);
  for (const { text } of [made, read, list, moved, cancelled]) expect(text).not.toContain(patients.first.slice(2));
  // A caller who knows the form of the ids cannot make one.
  await book();
  const [booking] = fake.calendar.bookings.keys();
  const forged = encodeURIComponent(`${patients.first}/${north.hsaId}/${booking}`);
  expect((await gateway.request('GET', `${unit}/appointments/${forged}`)).status).toBe(404);
  expect(gateway.logLines.join('\n')).not.toContain(patients.first.slice(2));
});

test('a refusal hands its text to the caller', async () => {
  fake.behaviour.refusal = 'Du har redan en tid här.';
  const { status, body } = await book();
  expect([status, body.reason, body.detail]).toEqual([502, 'ehr_rejected', 'Du har redan en tid här.']);
});

test.each([
  [{ status: 'cancelled' }, 'This booking cannot be cancelled online.'],
  [{ comment: 'Ny text' }, 'This booking cannot be changed online.'],
])("a change that the flags of the booking forbid is the caller's mistake: %o", async (change, detail) => {
  const made = await book();
  const [booking] = fake.calendar.bookings.values();
  Object.assign(booking ?? {}, { allowsCancel: false, allowsRebook: false });
  const headers = { 'idempotency-key': newKey() };
  const path = `${unit}/appointments/${encodeURIComponent(made.body.id)}`;
  const { status, body, text } = await gateway.request<Shown>('PATCH', path, { body: change, headers });
  expect([status, body], text).toEqual([
    409,
    expect.objectContaining({ reason: 'change_not_allowed', retryable: false, detail }),
  ]);
  expect(fake.calendar.bookings.size).toBe(1);
});

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
  const made = await book();
  const path = `${unit}/appointments/${encodeURIComponent(made.body.id)}`;
  const key = newKey();
  fake.mishaps.set('CancelBooking', ['answer lost']);
  const cancel = () =>
    gateway.request<Shown>('PATCH', path, { body: { status: 'cancelled' }, headers: { 'idempotency-key': key } });
  await cancel();
  const { status, body, text } = await finalResponse(cancel);
  expect([status, body.status], text).toEqual([200, 'cancelled']);
  expect(fake.calendar.bookings.size).toBe(0);
});

test('a booking whose answer is lost, and that somebody cancels before anybody looks, is not made again', async () => {
  const [body, key] = [await bodyOf(), newKey()];
  fake.mishaps.set('MakeBooking', ['answer lost']);
  expect(await book(body, key)).toMatchObject({ status: 504, body: { reason: 'outcome_unknown' } });
  fake.calendar.bookings.clear();
  expect(await book(body, key)).toMatchObject({ status: 504, body: { reason: 'outcome_unknown' } });
  expect(fake.calendar.bookings.size).toBe(0);
});
