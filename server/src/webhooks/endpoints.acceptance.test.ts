/** @module-tag any-database */
import { afterAll, describe, expect, test } from 'vitest';
import { type Problem, startGateway } from '../../../test/gateway/gateway.ts';
import { eventually, rowsOf } from '../../../test/requests/codes.ts';
import { newKey } from '../../../test/requests/idempotency-keys.ts';
import { type Endpoint, webhooksOf } from '../../../test/requests/webhook-receiver.ts';
import { findEndpoint } from './endpoint-store.ts';

const gateway = await startGateway({
  configure: (it) => ({ ...it, webhooks: { ...it.webhooks, max_endpoints: 3 } }),
});
afterAll(() => gateway.close());
const webhooks = webhooksOf(gateway);
const url = 'https://hooks.clinic.example/crossward?token=kanari-url-token';

describe('a URL is rejected', () => {
  test.each([
    ['http://hooks.clinic.example/', 'without TLS'],
    ['ftp://hooks.clinic.example/', 'of another protocol'],
    ['hooks', 'that is not one'],
    ['https://user:password@hooks.clinic.example/', 'with a password'],
    ['https://hooks.clinic.example/#part', 'with a fragment'],
    ['https://localhost/', 'with the name of a loopback address'],
    ['https://sub.localhost./', 'with a name below it'],
    ['https://127.0.0.1/', 'with a loopback address'],
    ['https://0x7f.1/', 'with a loopback address in another notation'],
    ['https://[::1]/', 'with a loopback address of IPv6'],
    ['https://[::ffff:10.0.0.1]/', 'with a mapped private address'],
    ['https://[::127.0.0.1]/', 'with an IPv4-compatible loopback address'],
    ['https://[64:ff9b::10.0.0.1]/', 'with a private address behind NAT64'],
    ['https://[2002:7f00:1::]/', 'with a loopback address in 6to4'],
    ['https://[2001:0:7f00:1::]/', 'with an address of Teredo'],
    ['https://192.168.1.10/', 'with a private address'],
    ['https://169.254.169.254/latest/meta-data', 'with a link-local address'],
  ])('%s: %s', async (rejected) => {
    const { status, body, text } = await webhooks.call<Problem>('POST', '', { url: rejected });
    expect(status).toBe(400);
    expect(body).toMatchObject({ reason: 'webhook_url_rejected', errors: [{ pointer: '/url' }] });
    expect(text).not.toContain('password@');
  });
});

test('an endpoint is created, read, changed and deleted', async () => {
  const made = await webhooks.create(url, ['appointment.booked']);
  const { secret, ...shown } = made;
  expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
  expect(shown).toMatchObject({ url, event_types: ['appointment.booked'], status: 'enabled', disabled_reason: null });
  expect((await webhooks.call('GET', `/${made.id}`)).body).toEqual(shown);
  const { body: list } = await webhooks.call<{ webhook_endpoints: Endpoint[] }>('GET', '');
  expect(list.webhook_endpoints).toEqual([shown]);

  const changed = await webhooks.call('PATCH', `/${made.id}`, { event_types: null, status: 'disabled' });
  expect(changed.body).toEqual({ ...shown, event_types: null, status: 'disabled', disabled_reason: 'client' });
  expect((await webhooks.call('PATCH', `/${made.id}`, {})).status).toBe(400);
  const rejected = await webhooks.call<Problem>('PATCH', `/${made.id}`, { url: 'https://10.0.0.1/' });
  expect(rejected.body.reason).toBe('webhook_url_rejected');

  expect((await webhooks.call('DELETE', `/${made.id}`)).status).toBe(204);
  for (const [method, path, body] of [
    ['GET', `/${made.id}`],
    ['PATCH', `/${made.id}`, { status: 'enabled' }],
    ['DELETE', `/${made.id}`],
    ['POST', `/${made.id}/secret`, {}],
    ['POST', `/${made.id}/test`],
    ['POST', `/${made.id}/replay`, { from: '2030-01-01T00:00:00Z' }],
    ['GET', `/${made.id}/deliveries`],
    ['GET', '/not-a-uuid'],
  ] as const) {
    const gone = await webhooks.call<Problem>(method, path, body);
    expect(gone).toMatchObject({ status: 404, body: { reason: 'webhook_endpoint_not_found' } });
  }
});

test('a client cannot see or change the endpoints of another client', async () => {
  const { id } = await webhooks.create(url);
  const others = webhooksOf(gateway, 'narrowed');
  expect((await others.call('GET', `/${id}`)).status).toBe(404);
  expect((await others.call('DELETE', `/${id}`)).status).toBe(404);
  expect((await others.call('GET', '')).body).toEqual({ webhook_endpoints: [], next_cursor: null });
  await webhooks.call('DELETE', `/${id}`);
});

test('a retry with the same key creates one endpoint and gets its secret again', async () => {
  const headers = { 'idempotency-key': newKey() };
  const create = (body: object) => gateway.request<Endpoint>('POST', '/api/webhook-endpoints', { body, headers });
  const [first, second] = await Promise.all([create({ url }), create({ url })]);
  const done = [first, second].filter(({ status }) => status === 201);
  expect(done.length).toBeGreaterThan(0);
  const again = await create({ url });
  expect(again.headers['idempotency-replayed']).toBe('true');
  expect(again.body).toEqual(done[0]?.body);
  expect((await create({ url: `${url}2` })).status).toBe(422);
  const { body } = await webhooks.call<{ webhook_endpoints: Endpoint[] }>('GET', '');
  expect(body.webhook_endpoints).toHaveLength(1);
  const removal = { headers: { 'idempotency-key': newKey() } };
  const path = `/api/webhook-endpoints/${again.body.id}`;
  expect((await gateway.request('DELETE', path, removal)).status).toBe(204);
  expect((await gateway.request('DELETE', path, removal)).status).toBe(204);
});

test('two rotations at the same time end no secret', async () => {
  if (gateway.database.kind === 'pglite') return;
  const { id, secret } = await webhooks.create(url);
  const { db, keys } = gateway.deps.services;
  const rotations = await db.transaction().execute(async (tx) => {
    await tx.selectFrom('webhook_endpoints').select('id').where('id', '=', id).forUpdate().execute();
    const started = [1, 2].map(() => webhooks.call<Endpoint>('POST', `/${id}/secret`, {}));
    await eventually(async () => {
      const waiting = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'
        AND query LIKE '%"webhook_endpoints"%'`;
      expect(await rowsOf(gateway, waiting)).toHaveLength(2);
    });
    return started;
  });
  const returned = (await Promise.all(rotations)).map(({ body }) => body.secret);
  const endpoint = await findEndpoint(db, keys, 'everything', id);
  const valid = [endpoint?.secret, ...(endpoint?.previousSecrets ?? []).map((it) => it.secret)];
  expect(valid.sort()).toEqual([secret, ...returned].sort());
  await webhooks.call('DELETE', `/${id}`);
});

test('a client has at most the number of endpoints that the operator allows', async () => {
  const all = await Promise.all([1, 2, 3, 4, 5].map(() => webhooks.call<Endpoint & Problem>('POST', '', { url })));
  expect(all.map(({ status }) => status).sort()).toEqual([201, 201, 201, 409, 409]);
  expect(all.find(({ status }) => status === 409)?.body.reason).toBe('webhook_endpoint_limit_reached');
  for (const { status, body } of all) if (status === 201) await webhooks.call('DELETE', `/${body.id}`);
});

test('the database has neither URL nor secret in plain text', async () => {
  const { id, secret } = await webhooks.create(url);
  await webhooks.call('POST', `/${id}/secret`, {});
  const rows = JSON.stringify(await rowsOf(gateway, 'SELECT it::text FROM webhook_endpoints AS it'));
  const hexOf = (text: string) => Buffer.from(text).toString('hex');
  for (const text of ['kanari-url-token', secret.slice(6), secret]) {
    expect(rows).not.toContain(text);
    expect(rows).not.toContain(hexOf(text));
  }
  expect(gateway.logLines.join('\n')).not.toContain('kanari-url-token');
});
