import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, expect, test } from 'vitest';
import { people, providers, types } from '../../connectors/oscar/fake/data.ts';
import { startFake } from '../../connectors/oscar/fake/server.ts';
import { north, settingsFor } from '../../connectors/oscar/test/subject.ts';
import { resolveConnection } from '../../server/src/config/schema/connection.ts';
import { resolvePatientPage } from '../../server/src/config/schema/patient-page.ts';
import { resolvePolicies } from '../../server/src/config/schema/policies.ts';
import { type Gateway, startGateway } from '../gateway/gateway.ts';
import { finalResponse, withQuickRecovery } from '../gateway/recovery.ts';
import { type AppointmentResponse, eventually, unfinishedOperations } from '../requests/codes.ts';
import { expectEvents } from '../requests/events.ts';
import { expectProblem } from '../requests/problems.ts';

const fake = await startFake();
const policies = resolvePolicies({});
const gateway: Gateway = await startGateway({
  intervals: { changes: 100, events: 100 },
  configure(demo) {
    const oscar = {
      ...{ id: 'oscar', name: 'OSCAR', connector: 'oscar', synthetic_identifiers: true, policies },
      settings: settingsFor(fake.url),
      connection: resolveConnection({ allow_private_addresses: true, changes_seconds: 0.2, request_timeout_ms: 2_000 }),
      care_units: [
        {
          ...{ id: 'north', name: 'North', time_zone: north.timeZone, language: 'en' as const, policies },
          ...{ patient_page: resolvePatientPage(), settings: { ...north.settings } },
        },
      ],
    };
    const grants = [{ emr: 'oscar', care_units: ['north'] }];
    const clients = demo.clients.map((client) => ({ ...client, grants }));
    return withQuickRecovery({ ...demo, emrs: [oscar], clients });
  },
});
afterEach(() => {
  fake.misbehave = () => undefined;
});
afterAll(async () => {
  await gateway.close();
  await fake.close();
});

interface Slot {
  readonly start: string;
  readonly end: string;
}
const unit = '/api/emrs/oscar/care-units/north';

async function slots(): Promise<readonly [Slot, Slot]> {
  const [start, end] = [1, 3].map((days) => new Date(Date.now() + days * 86_400_000).toISOString()) as [string, string];
  const query = new URLSearchParams({ start, end, resource_id: providers.ada, healthcare_service_id: types.visit });
  const { body } = await gateway.request<{ timeslots: Slot[] }>('GET', `${unit}/timeslots?${query}`);
  return body.timeslots as unknown as [Slot, Slot];
}

const withKey = (key: string = randomUUID()) => ({ headers: { 'idempotency-key': key } });

function book({ start, end }: Slot, patient = people.ann, options = withKey()): Promise<AppointmentResponse> {
  const place = { resource_id: providers.ada, healthcare_service_id: types.visit, start_time: start, end_time: end };
  const body = { patient_id: `emr_id:${patient}`, ...place };
  return gateway.request('POST', `${unit}/appointments`, { ...options, body });
}

test('a comment that the EHR cannot store is refused before anything is done', async () => {
  const [{ start, end }] = await slots();
  const place = { resource_id: providers.ada, healthcare_service_id: types.visit, start_time: start, end_time: end };
  const body = { patient_id: `emr_id:${people.ann}`, ...place, comment: 'a 🩺 b' };
  const refused = await gateway.request<object>('POST', `${unit}/appointments`, { ...withKey(), body });
  expect(refused).toMatchObject({
    status: 400,
    body: { reason: 'request_invalid', detail: expect.stringMatching(/^\/comment has characters/) },
  });
});

const booked = () => fake.active().map(({ id }) => String(id));

test.each([
  ['move', 'updated'],
  ['cancellation', 'cancelled'],
] as const)('a lost answer to a %s is found, and nothing is done twice', async (kind, event) => {
  const before = booked();
  const [from, { start, end }] = await slots();
  const { id } = (await book(from)).body;
  const body = kind === 'move' ? { start, end } : { status: 'cancelled' };
  const options = { ...withKey(), body };
  const send = (): Promise<AppointmentResponse> => gateway.request('PATCH', `${unit}/appointments/${id}`, options);
  fake.misbehave = ({ operation }) => (operation === 'updateAppointment' ? 'cut' : undefined);
  expectProblem(await send(), 504, 'outcome_unknown');
  fake.misbehave = () => undefined;
  expect((await finalResponse(send)).body).toMatchObject({ id, ...(kind === 'move' ? { start } : body) });
  expect(booked()).toEqual(kind === 'move' ? [...before, id] : before);
  await expectEvents(gateway, id, ['booked', event]);
  await eventually(async () => expect(await unfinishedOperations(gateway, 'oscar')).toEqual([]));
});

test('a lost answer to a booking is found, and nobody is booked twice', async () => {
  const before = booked();
  const [slot] = await slots();
  const options = withKey();
  fake.misbehave = ({ operation }) => (operation === 'addAppointment' ? 'cut' : undefined);
  expectProblem(await book(slot, people.ann, options), 504, 'outcome_unknown');
  fake.misbehave = () => undefined;
  const { body } = await finalResponse(() => book(slot, people.ann, options));
  expect(booked()).toEqual([...before, body.id]);
  await expectEvents(gateway, body.id, ['booked']);
  await eventually(async () => expect(await unfinishedOperations(gateway, 'oscar')).toEqual([]));
});

test('of twenty callers for one place one gets it, and a cancellation by staff is told', async () => {
  const [slot] = await slots();
  const before = fake.rows.size;
  const callers = Array.from({ length: 20 }, (_, index) => book(slot, index % 2 ? people.ann : people.ben));
  const answers = await Promise.all(callers);
  const [won, ...others] = answers.filter(({ status }) => status === 201);
  expect([won?.body.start, others]).toEqual([slot.start, []]);
  for (const it of answers.filter((one) => one !== won)) expectProblem(it, 400, 'time_slot_unavailable');
  expect(fake.rows.size).toBe(before + 1);
  const id = won?.body.id ?? '';
  fake.touch(id, { status: 'C' });
  await expectEvents(gateway, id, ['booked', 'cancelled']);
});
