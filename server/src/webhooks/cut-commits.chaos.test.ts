import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { type Gateway, type Problem, startGateway } from '../../../test/gateway/gateway.ts';
import { type PostgresProxy, startPostgresProxy } from '../../../test/postgres-proxy/postgres-proxy.ts';
import type { Way } from '../../../test/postgres-proxy/ways.ts';
import { eventually } from '../../../test/requests/codes.ts';
import { newKey } from '../../../test/requests/idempotency-keys.ts';
import { type Endpoint, startReceiver, verify, withQuickWebhooks } from '../../../test/requests/webhook-receiver.ts';

const endpoints = '/api/webhook-endpoints';

describe('a write to own tables whose connection breaks at COMMIT', () => {
  let gateway: Gateway;
  let proxy: PostgresProxy;
  beforeAll(async () => {
    gateway = await startGateway({
      configure: withQuickWebhooks,
      through: async (url) => {
        proxy = await startPostgresProxy(url);
        return proxy.url;
      },
    });
  });
  afterEach(() => proxy.heal());
  afterAll(async () => {
    await gateway.close();
    await proxy.close();
  });

  const cut = (way: Way, table = 'webhook_endpoints') =>
    proxy.cutNext(
      way,
      ({ kind, writes, statements }) => kind === 'commit' && writes && statements.some((text) => text.includes(table)),
    );
  let urls = 0;
  const newUrl = () => `https://hooks.clinic.example/${++urls}`;
  const send = (method: string, path: string, body?: object, key?: string) =>
    gateway.request<Endpoint & Problem & { origin: string; retryable: boolean }>(method, path, {
      ...(body ? { body } : {}),
      headers: key === undefined ? {} : { 'idempotency-key': key },
    });
  const withUrl = async (url: string) => {
    const { body } = await gateway.request<{ webhook_endpoints: Endpoint[] }>('GET', `${endpoints}?limit=500`);
    return body.webhook_endpoints.filter((it) => it.url === url);
  };
  const unknown = { status: 504, body: { reason: 'outcome_unknown', origin: 'gateway', retryable: true } };
  const ways: readonly [Way, number][] = [
    [{ kind: 'before' }, 0],
    [{ kind: 'after' }, 1],
    [{ kind: 'in answer' }, 1],
  ];

  test.each(ways)('%o: with a key, its retries make one endpoint and show its secret', async (way) => {
    const [url, key] = [newUrl(), newKey()];
    for (const next of [way, way]) {
      const failed = cut(next);
      const response = await send('POST', endpoints, { url }, key);
      if (response.status === 201) break;
      expect(response).toMatchObject(unknown);
      await failed.settled;
    }
    await proxy.heal();
    const made = await send('POST', endpoints, { url }, key);
    expect(made).toMatchObject({ status: 201, body: { secret: expect.stringMatching(/^whsec_/) } });
    expect(await withUrl(url)).toMatchObject([{ id: made.body.id }]);
  });

  test.each(ways)('%o: without a key it is told as unknown', async (way, count) => {
    const url = newUrl();
    const failed = cut(way);
    expect(await send('POST', endpoints, { url })).toMatchObject(unknown);
    await failed.settled;
    expect(await withUrl(url)).toHaveLength(count);
  });

  test('that comes late is told as unknown, and a retry waits for it', async () => {
    const [url, key] = [newUrl(), newKey()];
    const held = cut({ kind: 'late' });
    expect(await send('POST', endpoints, { url }, key)).toMatchObject(unknown);
    const retried = send('POST', endpoints, { url }, key);
    held.release();
    await held.settled;
    expect((await retried).status).toBe(201);
    expect(await withUrl(url)).toHaveLength(1);
  });

  test.each(ways)('%o: a rotation is made once under its key', async (way) => {
    const { body: endpoint } = await send('POST', endpoints, { url: newUrl() });
    const key = newKey();
    const failed = cut(way);
    const path = `${endpoints}/${endpoint.id}/secret`;
    expect(await send('POST', path, { overlap_seconds: 60 }, key)).toMatchObject(unknown);
    await failed.settled;
    const rotated = await send('POST', path, { overlap_seconds: 60 }, key);
    expect(rotated.status).toBe(200);
    const again = await send('POST', path, { overlap_seconds: 60 }, key);
    expect(again.body.secret).toBe(rotated.body.secret);
  });

  test.each(ways)('%o: a rotation that is repeated without a key leaves the receiver its secret', async (way) => {
    const receiver = await startReceiver();
    onTestFinished(() => receiver.close());
    const { body: endpoint } = await send('POST', endpoints, { url: receiver.url });
    const path = `${endpoints}/${endpoint.id}/secret`;
    const failed = cut(way);
    expect(await send('POST', path, {})).toMatchObject(unknown);
    await failed.settled;
    const rotated = await send('POST', path, {});
    expect(rotated.status).toBe(200);
    await send('POST', `${endpoints}/${endpoint.id}/test`);
    const delivery = await eventually(() => {
      const [first] = receiver.received;
      if (!first) throw new Error('Nothing was delivered');
      return first;
    });
    for (const { secret } of [endpoint, rotated.body]) expect(verify(delivery, secret)).toEqual(delivery.event);
  });

  test.each(ways)(
    '%o: a deletion is made under its key, and not found without one once it was made',
    async (way, made) => {
      const { body: endpoint } = await send('POST', endpoints, { url: newUrl() });
      const [path, key] = [`${endpoints}/${endpoint.id}`, newKey()];
      const failed = cut(way);
      expect(await send('DELETE', path, undefined, key)).toMatchObject(unknown);
      await failed.settled;
      if (made === 1) expect(await send('DELETE', path)).toMatchObject({ status: 404 });
      expect((await send('DELETE', path, undefined, key)).status).toBe(204);
    },
  );

  test('requests with one key at the same time make one endpoint', async () => {
    const [url, key] = [newUrl(), newKey()];
    const responses = await Promise.all(Array.from({ length: 8 }, () => send('POST', endpoints, { url }, key)));
    expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([201]));
    expect(new Set(responses.map(({ body }) => body.id)).size).toBe(1);
    expect(await withUrl(url)).toHaveLength(1);
  });

  test('a rejection is stored under its key, and the key belongs to its request', async () => {
    const key = newKey();
    for (let round = 0; round < 2; round++)
      expect(await send('POST', endpoints, { url: 'ftp://hooks.example' }, key)).toMatchObject({ status: 400 });
    const other = await send('POST', endpoints, { url: newUrl() }, key);
    expect(other).toMatchObject({ status: 422, body: { reason: 'idempotency_key_reused' } });
  });

  test('leaves no lease behind that a retry would wait for, although the gateway could not clean up', async () => {
    const [url, key] = [newUrl(), newKey()];
    const failed = cut({ kind: 'all', at: 'before' });
    expect(await send('POST', endpoints, { url }, key)).toMatchObject(unknown);
    await failed.settled;
    await proxy.heal();
    const answers: string[] = [];
    const made = await eventually(async () => {
      const response = await send('POST', endpoints, { url }, key);
      if (response.status !== 201) answers.push(response.body.reason);
      expect(response.status).toBe(201);
      return response.body;
    });
    expect(answers).not.toContain('idempotency_in_progress');
    expect(await withUrl(url)).toMatchObject([{ id: made.id }]);
  });
});
