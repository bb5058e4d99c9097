/** @module-tag any-database */
import { afterAll, expect, test } from 'vitest';
import { type Gateway, startGateway } from '../../../test/gateway/gateway.ts';
import { rowsOf } from '../../../test/requests/codes.ts';
import { type Scope, scopes } from '../config/schema/schema.ts';

const limit = 200;
const failures = 100;
const limits = { requests_per_minute: limit, page_requests_per_minute: 1000, failed_credentials: failures };
const configure: NonNullable<Parameters<typeof startGateway>[0]>['configure'] = (it) => ({
  ...it,
  limits: { ...it.limits, ...limits },
});
const first = await startGateway({ configure });
const second = await startGateway({ configure, beside: first });
const gateways = [first, second];
afterAll(async () => {
  await second.close();
  await first.close();
});

const minute = async () =>
  (
    await rowsOf<{ minute: string }>(first, 'SELECT floor(extract(epoch FROM clock_timestamp()) / 60)::text AS minute')
  )[0]?.minute;

const unused = [...scopes];

/** Runs `work` with a client that has sent nothing, and again with another, until it ends in the minute in which it began. */
async function withinAMinute<Result>(work: (client: Scope) => Promise<Result>): Promise<Result> {
  for (let client = unused.pop(); client; client = unused.pop()) {
    const began = await minute();
    const result = await work(client);
    if ((await minute()) === began) return result;
  }
  throw new Error('No run was shorter than a minute');
}

const send = (gateway: Gateway, client: Scope) => gateway.request('GET', '/api/emrs', { client });

/** Sends requests, each to one of the gateways. Returns the responses. */
async function sendAll(count: number, client: Scope, pick: (index: number) => Gateway | undefined) {
  const all: Awaited<ReturnType<typeof send>>[] = [];
  for (let index = 0; index < count; index += 20) {
    const batch = Array.from({ length: 20 }, (_, offset) => send(pick(index + offset) ?? first, client));
    all.push(...(await Promise.all(batch)));
  }
  return all;
}

test.each([
  ['alike', (index: number) => gateways[index % 2]],
  ['one rarely', (index: number) => gateways[index % 20 === 0 ? 1 : 0]],
])('two gateways that are used %s allow the requests of one limit, within 5 percent', async (_name, pick) => {
  const responses = await withinAMinute((client) => sendAll(limit + 60, client, pick));
  const allowed = responses.filter(({ status }) => status === 200).length;
  expect(allowed).toBeLessThanOrEqual(limit);
  expect(allowed).toBeGreaterThanOrEqual(limit * 0.95);
  const rejected = responses.find(({ status }) => status === 429);
  expect(rejected).toMatchObject({ body: { reason: 'rate_limited' }, headers: { 'ratelimit-remaining': '0' } });
  expect(rejected?.headers['retry-after']).toBe(rejected?.headers['ratelimit-reset']);
});

test('the fields of a response say what is left, with what other gateways have taken', async () => {
  const [before, after] = await withinAMinute(async (client) => {
    const before = await send(first, client);
    await sendAll(100, client, () => second);
    // The next batch tells this gateway of the others.
    return [before, (await sendAll(40, client, () => first)).at(-1)] as const;
  });
  expect(before.headers).toMatchObject({ 'ratelimit-limit': String(limit), 'ratelimit-remaining': String(limit - 1) });
  const left = Number(after?.headers['ratelimit-remaining']);
  expect(left).toBeLessThanOrEqual(limit - 141);
  // The other gateway may have a batch that it has not used up.
  expect(left).toBeGreaterThanOrEqual(limit - 141 - limit * 0.1);
});

test('incorrect credentials are counted for both gateways together, and correct ones never', async () => {
  const wrong = { id: 'everything', secret: 'wrong' };
  const responses = await Promise.all(
    Array.from({ length: failures * 2 }, (_, index) =>
      (gateways[index % 2] ?? first).request('GET', '/api/emrs', { client: wrong }),
    ),
  );
  const counted = responses.filter(({ status }) => status === 401).length;
  expect(counted).toBeGreaterThanOrEqual(failures);
  expect(counted).toBeLessThanOrEqual(failures * 1.05);
  expect(responses.filter(({ status }) => status === 429)).toHaveLength(failures * 2 - counted);
  for (const gateway of gateways) expect((await gateway.request('GET', '/api/emrs')).status).toBe(200);
});
