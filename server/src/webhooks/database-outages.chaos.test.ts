import { afterAll, describe, expect, test } from 'vitest';
import { databaseFaults } from '../../../test/database/database-faults.ts';
import { type Problem, startGateway } from '../../../test/gateway/gateway.ts';
import { book } from '../../../test/requests/bookings.ts';
import { rowsOf } from '../../../test/requests/codes.ts';
import { newKey } from '../../../test/requests/idempotency-keys.ts';
import { startReceiver, webhooksOf, withQuickWebhooks } from '../../../test/requests/webhook-receiver.ts';

const gateway = await startGateway({ configure: withQuickWebhooks });
const receiver = await startReceiver();
const faults = databaseFaults();
afterAll(async () => {
  faults.restore();
  await gateway.close();
  await receiver.close();
});
const webhooks = webhooksOf(gateway);

interface Write {
  readonly method: string;
  readonly path: string;
  readonly body?: object;
}

/** The writes to an endpoint that has one delivery. */
const writes: [string, (endpointId: string, deliveryId: string) => Write][] = [
  ['create', () => ({ method: 'POST', path: '', body: { url: receiver.url } })],
  ['change', (id) => ({ method: 'PATCH', path: `/${id}`, body: { event_types: ['appointment.cancelled'] } })],
  ['disable', (id) => ({ method: 'PATCH', path: `/${id}`, body: { status: 'disabled' } })],
  ['delete', (id) => ({ method: 'DELETE', path: `/${id}` })],
  ['rotate', (id) => ({ method: 'POST', path: `/${id}/secret`, body: {} })],
  ['test', (id) => ({ method: 'POST', path: `/${id}/test` })],
  ['replay', (id) => ({ method: 'POST', path: `/${id}/replay`, body: { from: '2100-01-01T00:00:00Z' } })],
  ['redeliver', (id, delivery) => ({ method: 'POST', path: `/${id}/deliveries/${delivery}/redeliver` })],
];

/** What a write changes at once. */
async function state(): Promise<unknown> {
  const queries = [
    `SELECT id, event_types, sealed_secret::text, sealed_previous_secret::text, disabled_reason FROM webhook_endpoints ORDER BY id`,
    'SELECT count(*) FROM events',
    `SELECT count(*) FROM webhook_deliveries JOIN events ON events.id = event_id WHERE events.endpoint_id IS NULL`,
  ];
  return Promise.all(queries.map((query) => rowsOf(gateway, query)));
}

async function endpointWithDelivery() {
  const endpoint = await webhooks.create(receiver.url, ['appointment.booked']);
  await book(gateway);
  const [delivery] = await webhooks.ended(endpoint.id, 1);
  return { endpoint, delivery: delivery?.id ?? '' };
}

function send({ method, path, body }: Write, key?: string) {
  return gateway.request<Problem & { readonly retryable: boolean }>(method, `/api/webhook-endpoints${path}`, {
    ...(body ? { body } : {}),
    headers: key === undefined ? {} : { 'idempotency-key': key },
  });
}

function expectUnavailable({ status, body, headers }: Awaited<ReturnType<typeof send>>): void {
  expect({ status, ...body }).toMatchObject({ status: 503, reason: 'database_unavailable', retryable: true });
  expect(Number(headers['retry-after'])).toBeGreaterThan(0);
}

function expectUnknown({ status, body }: Awaited<ReturnType<typeof send>>): void {
  const unknown = { status: 504, reason: 'outcome_unknown', origin: 'gateway', retryable: true };
  expect({ status, ...body }).toMatchObject(unknown);
}

describe.each(writes)('a write to a webhook endpoint (%s)', (_, writeTo) => {
  test('changes nothing while the database does not respond, and can be sent again', async () => {
    const { endpoint, delivery } = await endpointWithDelivery();
    const write = writeTo(endpoint.id, delivery);
    const before = await state();
    expectUnavailable(await faults.during('down', () => send(write)));
    expect(await state()).toEqual(before);
    expect((await send(write)).status).toBeLessThan(300);
    await webhooks.call('DELETE', `/${endpoint.id}`);
  });

  test.each(['cut before commit', 'cut after commit'] as const)('is made once with a key: %s', async (fault) => {
    const { endpoint, delivery } = await endpointWithDelivery();
    const write = writeTo(endpoint.id, delivery);
    const key = newKey();
    const before = await state();
    expectUnknown(await faults.during(fault, () => send(write, key)));
    const after = await state();
    if (fault === 'cut before commit') expect(after).toEqual(before);
    const response = await send(write, key);
    expect(response.status).toBeLessThan(300);
    expect(response.headers['idempotency-replayed']).toBe(fault === 'cut after commit' ? 'true' : undefined);
    if (fault === 'cut after commit') expect(await state()).toEqual(after);
    await webhooks.call('DELETE', `/${endpoint.id}`);
  });
});
