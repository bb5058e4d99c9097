/** @module-tag any-database */
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ConnectorError, type ConnectorModule, type DatabaseContext, type EhrHttp } from '@crossward/connector-kit';
import { sandboxConnector } from '@crossward/connector-sandbox';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { startGateway } from '../../../../test/gateway/gateway.ts';
import { finalResponse, withQuickRecovery } from '../../../../test/gateway/recovery.ts';
import { around, creationBody, freeSlot, oslo } from '../../../../test/requests/bookings.ts';
import {
  type AppointmentResponse,
  backdateWrites,
  eventually,
  runBackgroundJobs,
  unfinishedOperations,
} from '../../../../test/requests/codes.ts';
import { newKey } from '../../../../test/requests/idempotency-keys.ts';

/* A connector that knows nothing about unknown outcomes: it sends a write, reads what was written, and throws what it meets. */

type Reply = (response: ServerResponse) => void;
const reply =
  (status: number, text: string, headers: Record<string, string> = {}): Reply =>
  (response) =>
    void response.writeHead(status, headers).end(text);
const fine = reply(200, '{"id":"17"}');

/** How the EHR answers a write, and a read. */
const answers = { write: fine, read: fine };
const received: string[] = [];
const ehr = createServer((request, response) => {
  received.push(request.method ?? '');
  request.resume().once('end', () => (request.method === 'GET' ? answers.read(response) : answers.write(response)));
});
await once(ehr.listen(0, '127.0.0.1'), 'listening');
const url = `http://127.0.0.1:${(ehr.address() as AddressInfo).port}/appointments`;

/** The writes stand in a sandbox, once the EHR has taken them. */
const naive: ConnectorModule = {
  ...sandboxConnector,
  async open(context: DatabaseContext<never>) {
    const sandbox = await sandboxConnector.open(context);
    return {
      ...sandbox,
      async changeAppointments(write) {
        const known = await sandbox.findOperation?.(write.careUnit, write.operationId);
        if (known) return known;
        await post(context.http);
        const made = (await sandbox.changeAppointments?.(write)) ?? [];
        const { status, text } = await context.http.send({ method: 'GET', url, repeatable: true });
        if (status !== 200) throw new ConnectorError('rejected', `The EHR responded ${status}`);
        const { id } = JSON.parse(text);
        if (id.length === 0) throw new ConnectorError('appointment_not_found', 'The EHR has no such appointment');
        return made;
      },
    };
  },
};

async function post(http: EhrHttp): Promise<void> {
  const { status, text } = await http.send({
    method: 'POST',
    url,
    body: '{}',
    repeatable: false,
    refused: (response) => response.text.includes('taken'),
  });
  if (text.includes('taken')) {
    const after = await http.send({ method: 'GET', url, repeatable: true });
    if (after.status === 200) throw new ConnectorError('time_slot_unavailable', 'Taken');
  }
  const refusal = { status, code: 'DoubleBooked' };
  if (status !== 200) throw new ConnectorError('rejected', `The EHR responded ${status}`, { refusal });
}

const start = () =>
  startGateway({
    connectors: [naive],
    configure: (demo) => {
      const quick = withQuickRecovery(demo);
      const reachable = { allow_private_addresses: true, retries: 0 };
      return { ...quick, emrs: quick.emrs.map((emr) => ({ ...emr, connection: { ...emr.connection, ...reachable } })) };
    },
  });
const gateway = await start();
afterEach(() => Object.assign(answers, { write: fine, read: fine }));
afterAll(async () => {
  await gateway.close();
  ehr.closeAllConnections();
  ehr.close();
});

const writesSent = () => received.filter((method) => method === 'POST').length;
const unknown = { status: 504, body: { reason: 'outcome_unknown', retryable: true } };

async function booking(headers: Record<string, string> = {}, through = gateway) {
  const slot = await freeSlot(through);
  const send = (): Promise<AppointmentResponse> =>
    through.request('POST', `${oslo}/appointments`, { body: creationBody(slot), headers });
  /** How many appointments the EHR has at the time. */
  const standing = async () => {
    const path = `${oslo}/appointments?${around(slot)}&resource_id=r-1`;
    const { body } = await through.request<{ appointments: unknown[] }>('GET', path);
    return body.appointments.length;
  };
  return { send, standing };
}

const failures: readonly (readonly [string, Reply])[] = [
  ['503', reply(503, '')],
  ['500', reply(500, '')],
  ['a page in HTML', reply(200, '<html>', { 'content-type': 'text/html' })],
  ['the end of its session', reply(401, '{}')],
  ['a cut connection', (response) => void response.destroy()],
  [
    'half an answer',
    (response) => void response.writeHead(200, { 'content-length': '99' }).write('{"id"', () => response.destroy()),
  ],
  ['JSON without what was wanted', reply(200, '{}')],
  ['nothing found', reply(200, '{"id":""}')],
];

describe.each(failures)('a booking that the EHR has taken, before the next request gets %s,', (_, read) => {
  test('has an unknown outcome, and a retry with the key finds it', async () => {
    const { send, standing } = await booking({ 'idempotency-key': newKey() });
    const before = writesSent();
    answers.read = read;
    expect(await send()).toMatchObject(unknown);
    answers.read = fine;
    const response = await finalResponse(send);
    expect(response, response.text).toMatchObject({ status: 201, body: { status: 'booked' } });
    expect([await standing(), writesSent() - before]).toEqual([1, 1]);
    expect(await send()).toMatchObject({ status: 201, body: { id: response.body.id } });
  });

  test('has an unknown outcome without a key, and stands once', async () => {
    const { send, standing } = await booking();
    const before = writesSent();
    answers.read = read;
    expect(await send()).toMatchObject(unknown);
    answers.read = fine;
    await eventually(async () => {
      await backdateWrites(gateway);
      await runBackgroundJobs(gateway);
      expect(await unfinishedOperations(gateway)).toEqual([]);
    });
    expect([await standing(), writesSent() - before]).toEqual([1, 1]);
  });
});

describe('a booking that the EHR refuses changes nothing:', () => {
  test.each([
    ['422', reply(422, '{}'), fine, 502, 'ehr_rejected'],
    ['409, before the next request gets 503', reply(409, 'taken'), reply(503, ''), 503, 'ehr_unavailable'],
    ['200 with a refusal in the body', reply(200, 'taken'), fine, 400, 'time_slot_unavailable'],
    [
      '200 with a refusal, before the next request gets 503',
      reply(200, 'taken'),
      reply(503, ''),
      503,
      'ehr_unavailable',
    ],
  ] as const)('%s', async (_, write, read, status, reason) => {
    const { send, standing } = await booking({ 'idempotency-key': newKey() });
    Object.assign(answers, { write, read });
    const response = await send();
    expect(response).toMatchObject({ status, body: { reason } });
    expect(await standing()).toBe(0);
  });

  test.each([
    ['500', reply(500, '')],
    ['408', reply(408, '')],
    ['a redirect', reply(303, '', { location: '/elsewhere' })],
  ])('but %s says nothing', async (_, write) => {
    const { send } = await booking();
    answers.write = write;
    expect(await send()).toMatchObject(unknown);
  });
});

test('the log says how the EHR has refused a booking', async () => {
  const { send } = await booking();
  answers.write = reply(422, '{}');
  const { body, headers } = await send();
  expect(body.reason).toBe('ehr_rejected');
  const line = gateway.logLines.find(
    (it) => it.includes(String(headers['x-request-id'])) && it.includes('request failed'),
  );
  expect(JSON.parse(line ?? '{}').cause.refusal).toEqual({ status: 422, code: 'DoubleBooked' });
});

/* The gateway sends such an EHR nothing for a while. */
describe.each([
  ['429', reply(429, '', { 'retry-after': '600' })],
  ['503 with a long delay', reply(503, '', { 'retry-after': '600' })],
])('%s', (_, busy) => {
  test.each([
    ['for a booking: nothing was changed', { write: busy }, { status: 503, body: { reason: 'ehr_unavailable' } }, 0],
    ['for the request after a booking: the outcome is unknown', { read: busy }, unknown, 1],
  ])('%s', async (_what, replies, expected, count) => {
    const own = await start();
    const { send, standing } = await booking({ 'idempotency-key': newKey() }, own);
    Object.assign(answers, replies);
    expect(await send()).toMatchObject(expected);
    expect(await standing()).toBe(count);
    if (count === 1) expect(await finalResponse(send)).toMatchObject({ status: 201, body: { status: 'booked' } });
    await own.close();
  });
});
