import type { ConnectorOperation } from '@crossward/connector-kit';
import { Temporal } from 'temporal-polyfill';
import { describe, expect, test } from 'vitest';
import { startBeforeFaultyEhrs } from '../../../test/gateway/faulty-ehrs.ts';
import type { GatewayResponse, Problem } from '../../../test/gateway/gateway.ts';
import {
  calledWhileUnavailable,
  finalResponse,
  lookedUpWithoutResult,
  settledResponse,
} from '../../../test/gateway/recovery.ts';
import { oslo } from '../../../test/requests/bookings.ts';
import { eventually } from '../../../test/requests/codes.ts';
import { newKey } from '../../../test/requests/idempotency-keys.ts';
import type { ScheduleBody } from './contract.ts';

const { gateway, ehrs } = await startBeforeFaultyEhrs();
const ehr = ehrs.of('sandbox-no');

type Body = ScheduleBody & Problem;

const schedules = `${oslo}/resources/r-1/schedules`;
const firstDay = Temporal.Now.plainDateISO('Europe/Oslo').add({ days: 40 });
let lastDay = 0;

/** An evening of its own for each test. */
function newEvening() {
  const date = firstDay.add({ days: lastDay++ });
  return {
    start_time: `${date}T18:00:00`,
    end_time: `${date}T20:00:00`,
    slot_minutes: 30,
    healthcare_service_ids: ['consultation'],
  };
}
type Evening = ReturnType<typeof newEvening>;

function post(path: string, body: object, key?: string): Promise<GatewayResponse<Body>> {
  return gateway.request('POST', path, { body, headers: { 'idempotency-key': key } });
}

async function listed({ start_time, end_time }: Evening): Promise<readonly ScheduleBody[]> {
  const query = new URLSearchParams({ start: start_time, end: end_time });
  return (await gateway.request<{ schedules: ScheduleBody[] }>('GET', `${schedules}?${query}`)).body.schedules;
}

async function slotsOf({ start_time: start, end_time: end }: Evening): Promise<number> {
  const query = new URLSearchParams({ start, end, resource_id: 'r-1', healthcare_service_id: 'consultation' });
  return (await gateway.request<{ timeslots: [] }>('GET', `${oslo}/timeslots?${query}`)).body.timeslots.length;
}

interface Write {
  readonly operation: ConnectorOperation;
  readonly status: number;
  /** Makes what the write needs, and returns its request. */
  prepare(evening: Evening): Promise<{ readonly path: string; readonly body: object }>;
  /** Slots of the evening after the write. */
  readonly slots: number;
  /** Makes the write impossible, as somebody else would. */
  prevent(evening: Evening): Promise<GatewayResponse<Body>>;
  readonly reason: string;
}

async function created(evening: Evening): Promise<string> {
  const { status, body, text } = await post(schedules, evening);
  expect(status, text).toBe(201);
  return `${schedules}/${body.id}`;
}

const book = ({ start_time }: Evening) =>
  post(`${oslo}/appointments`, {
    patient_id: 'p-3',
    resource_id: 'r-1',
    healthcare_service_id: 'consultation',
    start_time,
    end_time: start_time.replace('18:00', '18:30'),
  });

const writes: readonly Write[] = [
  {
    operation: 'createSchedule',
    status: 201,
    prepare: async (evening) => ({ path: schedules, body: evening }),
    slots: 4,
    prevent: ({ start_time, ...evening }) =>
      post(schedules, { ...evening, start_time: start_time.replace('18:00', '19:00') }),
    reason: 'schedule_overlap',
  },
  {
    operation: 'endSchedule',
    status: 200,
    prepare: async (evening) => ({ path: `${await created(evening)}/end`, body: { end_time: evening.start_time } }),
    slots: 0,
    prevent: book,
    reason: 'schedule_has_appointments',
  },
  {
    operation: 'addScheduleException',
    status: 200,
    prepare: async (evening) => ({
      path: `${await created(evening)}/exceptions`,
      body: { start_time: evening.start_time, end_time: evening.end_time.replace('20:00', '19:00') },
    }),
    slots: 2,
    prevent: book,
    reason: 'schedule_has_appointments',
  },
];

describe.each(writes)('$operation', ({ operation, status, prepare, slots, prevent, reason }) => {
  async function expectDoneOnce(response: GatewayResponse<Body>, evening: Evening): Promise<void> {
    expect(response.status, response.text).toBe(status);
    expect(await slotsOf(evening)).toBe(slots);
    const { body } = await gateway.request<ScheduleBody>('GET', `${schedules}/${response.body.id}`);
    expect(body).toEqual(response.body);
    expect(body.exceptions).toHaveLength(operation === 'addScheduleException' ? 1 : 0);
    if (operation === 'createSchedule') expect(await listed(evening)).toEqual([body]);
  }

  test.each([true, false])('an EHR that is down across the retry and the recovery (done: %s)', async (isDone) => {
    const evening = newEvening();
    const { path, body } = await prepare(evening);
    const key = newKey();
    ehr.goDownDuring({ operation, isDone });
    expect(await post(path, body, key)).toMatchObject({ status: 504, body: { reason: 'outcome_unknown' } });
    expect((await settledResponse(() => post(path, body, key))).status).toBeGreaterThanOrEqual(500);
    await calledWhileUnavailable(ehr);
    ehr.comeUp();
    await expectDoneOnce(await finalResponse(() => post(path, body, key)), evening);
  });

  test('an EHR that finishes after the response', async () => {
    const evening = newEvening();
    const { path, body } = await prepare(evening);
    const late = ehr.finishLate({ operation });
    const key = newKey();
    expect(await post(path, body, key)).toMatchObject({ status: 504, body: { reason: 'outcome_unknown' } });
    await lookedUpWithoutResult(ehr, Date.now());
    await late.finish();
    await expectDoneOnce(await finalResponse(() => post(path, body, key)), evening);
  });

  test('without a key, an EHR that finishes after the response keeps the write', async () => {
    const evening = newEvening();
    const { path, body } = await prepare(evening);
    const late = ehr.finishLate({ operation });
    expect(await post(path, body)).toMatchObject({ status: 504, body: { reason: 'outcome_unknown' } });
    await lookedUpWithoutResult(ehr, Date.now());
    await late.finish();
    await eventually(async () => expect(await slotsOf(evening)).toBe(slots));
  });

  test('somebody else makes it impossible before the retry', async () => {
    const evening = newEvening();
    const { path, body } = await prepare(evening);
    const key = newKey();
    ehr.loseResponse({ operation, isDone: false });
    expect(await post(path, body, key)).toMatchObject({ status: 504 });
    const other = await prevent(evening);
    expect(other.status, other.text).toBe(201);
    const rejected = await finalResponse(() => post(path, body, key));
    expect(rejected).toMatchObject({ status: 409, body: { reason, errors: [{ reason }] } });
    expect(await post(path, body, key)).toMatchObject({ status: 409, headers: { 'idempotency-replayed': 'true' } });
  });

  test('somebody else changes the schedule before the retry', async () => {
    const evening = newEvening();
    const { path, body } = await prepare(evening);
    const key = newKey();
    ehr.loseResponse({ operation, isDone: true });
    expect(await post(path, body, key)).toMatchObject({ status: 504 });
    const [schedule] = operation === 'endSchedule' ? [{ id: path.split('/').at(-2) }] : await listed(evening);
    const start_time = evening.start_time.replace('18:00', '19:30');
    const other = await post(`${schedules}/${schedule?.id}/exceptions`, { start_time, end_time: evening.end_time });
    expect(other.status, other.text).toBe(200);
    const response = await finalResponse(() => post(path, body, key));
    expect(response).toMatchObject({ status, body: { id: other.body.id } });
    expect((await gateway.request('GET', `${schedules}/${other.body.id}`)).body).toEqual(other.body);
    expect(await slotsOf(evening)).toBe(Math.max(slots - 1, 0));
  });
});
