import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, expect, test } from 'vitest';
import { facilities, people, resources } from '../../connectors/care/fake/data.ts';
import { startFake } from '../../connectors/care/fake/server.ts';
import { settingsFor, timeZone } from '../../connectors/care/test/subject.ts';
import { resolveConnection } from '../../server/src/config/schema/connection.ts';
import { resolvePatientPage } from '../../server/src/config/schema/patient-page.ts';
import { resolvePolicies } from '../../server/src/config/schema/policies.ts';
import { type Gateway, startGateway } from '../gateway/gateway.ts';
import { finalResponse, withQuickRecovery } from '../gateway/recovery.ts';
import type { Appointment } from '../requests/bookings.ts';
import { type AppointmentResponse, eventually, unfinishedOperations } from '../requests/codes.ts';
import { eventsAbout, expectEvents } from '../requests/events.ts';
import { expectProblem } from '../requests/problems.ts';

const fake = await startFake({ signIns: 100 });
const policies = resolvePolicies({});
const gateway: Gateway = await startGateway({
  intervals: { changes: 100, events: 100 },
  configure(demo) {
    const care = {
      id: 'care',
      name: 'CARE',
      connector: 'care',
      settings: settingsFor(fake.url),
      synthetic_identifiers: true,
      connection: resolveConnection({ allow_private_addresses: true, changes_seconds: 0.2, request_timeout_ms: 2_000 }),
      policies,
      care_units: [
        {
          id: 'north',
          name: 'North',
          time_zone: timeZone,
          language: 'en' as const,
          policies,
          patient_page: resolvePatientPage(),
          settings: { facility: facilities.north },
        },
      ],
    };
    const grants = [{ emr: 'care', care_units: ['north'] }];
    const clients = demo.clients.map((client) => ({ ...client, grants }));
    return withQuickRecovery({ ...demo, emrs: [care], clients });
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
const unit = '/api/emrs/care/care-units/north';

async function slots(): Promise<readonly [Slot, Slot, ...Slot[]]> {
  const [start, end] = [1, 3].map((days) => new Date(Date.now() + days * 86_400_000).toISOString()) as [string, string];
  const query = new URLSearchParams({ start, end, resource_id: resources.ada.id });
  const { body } = await gateway.request<{ timeslots: Slot[] }>('GET', `${unit}/timeslots?${query}`);
  return body.timeslots as [Slot, Slot, ...Slot[]];
}

function book({ start, end }: Slot, patient = people.asha, key: string = randomUUID()): Promise<AppointmentResponse> {
  const body = {
    patient_id: `emr_id:${patient}`,
    resource_id: resources.ada.id,
    healthcare_service_id: 'appointment',
    start_time: start,
    end_time: end,
  };
  return gateway.request('POST', `${unit}/appointments`, { headers: { 'idempotency-key': key }, body });
}

const move = (id: string, { start, end }: Slot, key: string = randomUUID()): Promise<AppointmentResponse> =>
  gateway.request('PATCH', `${unit}/appointments/${id}`, { headers: { 'idempotency-key': key }, body: { start, end } });
const read = async (id: string) => (await gateway.request<Appointment>('GET', `${unit}/appointments/${id}`)).body;
const booked = () => [...fake.bookings.values()].filter(({ status }) => status === 'booked').map(({ id }) => id);

test('a move has a new id, names the former one, and gives two events', async () => {
  const [from, to] = await slots();
  const { body: made } = await book(from);
  const { status, body: moved } = await move(made.id, to);
  expect({ status, moved }).toMatchObject({ status: 200, moved: { start: to.start, supersedes_id: made.id } });
  expect(await read(moved.id)).toEqual(moved);
  expect(await read(made.id)).toMatchObject({ status: 'cancelled' });
  await expectEvents(gateway, made.id, ['booked', 'cancelled']);
  const [event] = await eventsAbout(gateway, moved.id, 1);
  expect(event).toMatchObject({ type: 'appointment.booked', data: { supersedes_id: made.id } });
  expect(booked()).toEqual([moved.id]);
});

test.each(['create_appointment/', 'batch_requests/'])(
  'a lost answer to %s is found, and nothing is done twice',
  async (path) => {
    const before = booked();
    const [from, to] = await slots();
    const isMove = path.startsWith('batch');
    const former = isMove ? (await book(from)).body.id : '';
    const key = randomUUID();
    const send = () => (isMove ? move(former, to, key) : book(from, people.asha, key));
    fake.misbehave = (call) => (call.path.endsWith(path) ? 'cut' : undefined);
    expectProblem(await send(), 504, 'outcome_unknown');
    fake.misbehave = () => undefined;
    const { status, body } = await finalResponse(send);
    expect({ status, body }).toMatchObject({ status: isMove ? 200 : 201, body: { supersedes_id: former || null } });
    await eventually(async () => expect(await unfinishedOperations(gateway, 'care')).toEqual([]));
    expect(booked()).toEqual([...before, body.id]);
    await expectEvents(gateway, body.id, ['booked']);
  },
);

test('of twenty callers for one place one gets it, and a cancellation by staff is told', async () => {
  const [slot] = await slots();
  const callers = Array.from({ length: 20 }, (_, index) => book(slot, index % 2 ? people.asha : people.ravi));
  const answers = await Promise.all(callers);
  const [won, ...others] = answers.filter(({ status }) => status === 201);
  expect(others).toEqual([]);
  for (const it of answers.filter((one) => one !== won)) expectProblem(it, 400, 'time_slot_unavailable');
  const booking = fake.bookings.get(won?.body.id ?? '');
  if (!booking) throw new Error('Not booked');
  expect(
    [...fake.bookings.values()].filter((it) => it.slot.start === booking.slot.start && it.status === 'booked'),
  ).toEqual([booking]);
  fake.free(booking, 'cancelled', undefined);
  await expectEvents(gateway, booking.id, ['booked', 'cancelled']);
});
