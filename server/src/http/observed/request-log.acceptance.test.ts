/** @module-tag any-database */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { sql } from 'kysely';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { startGateway } from '../../../../test/gateway/gateway.ts';
import { creationBody, freeSlots, oslo } from '../../../../test/requests/bookings.ts';
import { newRequestId } from '../../../../test/requests/request-id.ts';

const gateway = await startGateway();
afterAll(() => gateway.close());

const { id, secret } = gateway.credentials('everything');

interface Line {
  readonly level: number;
  readonly msg: string;
  readonly request_id?: string;
  readonly method?: string;
  readonly route?: string;
  readonly status?: number;
  readonly aborted?: boolean;
  readonly reason?: string;
  readonly client?: string;
}

const linesOf = (requestId: string) =>
  gateway.logLines.map((line) => JSON.parse(line) as Line).filter((line) => line.request_id === requestId);

async function measured(labels: Readonly<Record<string, string>>): Promise<number> {
  const { text } = await gateway.request('GET', '/metrics', { client: null });
  const line = text
    .split('\n')
    .filter((it) => it.startsWith('crossward_http_request_duration_seconds_count{'))
    .find((it) => Object.entries(labels).every(([name, value]) => it.includes(`${name}="${value}"`)));
  return Number(line?.split(' ').at(-1) ?? 0);
}

async function open(): Promise<Socket> {
  const socket = connect(gateway.port, '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  return socket;
}

const head = (method: string, path: string, requestId: string, more = '') =>
  `${method} ${path} HTTP/1.1\r\nhost: x\r\nx-service-client-id: ${id}\r\nx-service-client-secret: ${secret}\r\nx-request-id: ${requestId}\r\n${more}\r\n`;

/** Delays every call, or those with this name, until the test releases it, like a slow EHR. */
function delayRequests(name?: string): { readonly reached: Promise<void>; release(): void } {
  const reached = Promise.withResolvers<void>();
  const free = Promise.withResolvers<void>();
  const ehr = gateway.deps.ehrs.get('sandbox-no');
  if (!ehr) throw new Error('There is no sandbox-no');
  const call = ehr.call.bind(ehr);
  Object.assign(ehr, {
    call: async (...args: unknown[]) => {
      if (name !== undefined && args[0] !== name) return await Reflect.apply(call, ehr, args);
      reached.resolve();
      await free.promise;
      return await Reflect.apply(call, ehr, args);
    },
  });
  const release = () => {
    free.resolve();
    Object.assign(ehr, { call });
  };
  onTestFinished(release);
  return { reached: reached.promise, release };
}

const route = '/api/emrs/:emr/care-units/:care_unit_id/appointments';

describe('a caller that disconnects before the response', () => {
  test.each([
    ['made, if it has begun', 'changeAppointments', true, '0b5e0c4e-3f0a-4c39-9d0e-2a4f4d9f6a11'],
    ['not made, if it has not begun', 'findPatient', false, '0b5e0c4e-3f0a-4c39-9d0e-2a4f4d9f6a12'],
  ] as const)('is logged and measured once, and its booking is %s', async (_, reachedCall, isMade, requestId) => {
    const before = await measured({ method: 'POST', route, status: 'aborted' });
    const labels = { method: 'POST', route, status: 'aborted' };
    const [slot, other] = await freeSlots(gateway);
    if (!slot || !other) return expect.unreachable('No free slots');
    const body = JSON.stringify(creationBody(slot));
    const held = delayRequests(reachedCall);
    const socket = await open();
    socket.write(
      `${head('POST', `${oslo}/appointments`, requestId, `content-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n`)}${body}`,
    );
    await held.reached;
    socket.destroy();
    await expect.poll(() => linesOf(requestId)).toHaveLength(1);
    held.release();
    const booked = async () => {
      const { body: found } = await gateway.request<{ appointments: { start: string; resource_id: string }[] }>(
        'GET',
        `${oslo}/appointments?resource_id=${slot.resource_id}&status=booked`,
      );
      return found.appointments.some(({ start }) => start === slot.start);
    };
    // Another booking comes after it.
    const later = await gateway.request('POST', `${oslo}/appointments`, { body: creationBody(other) });
    expect(later.status).toBe(201);
    await expect.poll(booked).toBe(isMade);
    expect(linesOf(requestId)).toMatchObject([{ level: 30, msg: 'request', aborted: true, client: id }]);
    expect(linesOf(requestId)[0]).not.toHaveProperty('status');
    expect((await measured(labels)) - before).toBe(1);
  });

  test('is logged once for each pipelined request', async () => {
    const ids = Array.from({ length: 15 }, (_, index) => `0b5e0c4e-3f0a-4c39-9d0e-${String(index).padStart(12, '0')}`);
    const held = delayRequests();
    const socket = await open();
    socket.write(ids.map((requestId) => head('GET', `${oslo}/resources`, requestId)).join(''));
    await held.reached;
    socket.destroy();
    for (const requestId of ids) await expect.poll(() => linesOf(requestId)).toMatchObject([{ aborted: true }]);
  });
});

test.each(['resetAndDestroy', 'destroy', 'end'] as const)(
  'an aborted upload is not logged as an error: %s',
  async (closeSocket) => {
    const requestId = newRequestId();
    const labels = { method: 'POST', route: '/api/emrs/:emr/care-units/:care_unit_id/appointments' };
    const before = await measured({ ...labels, status: 'aborted' });
    const socket = await open();
    const more = 'content-type: application/json\r\ncontent-length: 1000\r\nexpect: 100-continue\r\n';
    socket.write(head('POST', `${oslo}/appointments`, requestId, more));
    await once(socket, 'data');
    socket.write('{"patient_id":');
    socket[closeSocket]();
    await expect.poll(() => linesOf(requestId)).toMatchObject([{ level: 30, msg: 'request', aborted: true }]);
    expect(await measured({ ...labels, status: 'aborted' })).toBe(before + 1);
    expect(await measured({ ...labels, status: '503' })).toBe(0);
    // Fastify handles the closed connection within the same turn of the event loop.
    await gateway.request('GET', '/health/live', { client: null });
    expect(linesOf(requestId)).toHaveLength(1);
  },
);

test('the line of a write names its operation, that of a read none', async () => {
  const [slot] = await freeSlots(gateway);
  if (!slot) return expect.unreachable('No free slot');
  const [written, read] = [newRequestId(), newRequestId()];
  const booked = await gateway.request<{ id: string }>('POST', `${oslo}/appointments`, {
    body: creationBody(slot),
    headers: { 'x-request-id': written, 'idempotency-key': newRequestId() },
  });
  expect(booked.status).toBe(201);
  await gateway.request('GET', `${oslo}/appointments/${booked.body.id}`, { headers: { 'x-request-id': read } });
  await expect.poll(() => [...linesOf(written), ...linesOf(read)]).toHaveLength(2);
  const { rows } = await sql<{ id: string }>`SELECT id FROM operations ORDER BY created_at DESC LIMIT 1`.execute(
    gateway.deps.services.db,
  );
  expect(linesOf(written)).toMatchObject([{ operation_id: rows[0]?.id }]);
  expect(linesOf(read)[0]).not.toHaveProperty('operation_id');
});

test.each([
  ['GET', '/api/emrs', 200, '/api/emrs'],
  ['GET', '/nothing', 404, 'unmatched'],
  ['DELETE', '/api/emrs', 405, '/api/emrs'],
  ['GET', '/api/emrs/%', 400, 'unmatched'],
  ['GET', `/${'x'.repeat(9000)}`, 414, 'unmatched'],
])('a request is logged and measured once: %s %s', async (method, path, status, route) => {
  const requestId = newRequestId();
  const labels = { method, route, status: String(status) };
  const before = await measured(labels);
  const response = await gateway.request(method, path, { headers: { 'x-request-id': requestId } });
  expect(response.status).toBe(status);
  await expect.poll(() => linesOf(requestId)).toMatchObject([{ msg: 'request', status }]);
  expect(linesOf(requestId)[0]).not.toHaveProperty('aborted');
  expect(await measured(labels)).toBe(before + 1);
});
