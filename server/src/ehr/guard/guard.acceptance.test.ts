/** @module-tag any-database */
import { type Connector, ConnectorError } from '@crossward/connector-kit';
import { afterAll, afterEach, describe, expect, test, vi } from 'vitest';
import { wrapConnector } from '../../../../test/ehrs/other-ehrs.ts';
import { type GatewayResponse, type Problem, startGateway } from '../../../../test/gateway/gateway.ts';
import { creationBody, freeSlot, oslo, sodermalm } from '../../../../test/requests/bookings.ts';
import { browserWith, type ConsoleBrowser, withConsole } from '../../../../test/requests/console.ts';
import { resolveConnection } from '../../config/schema/connection.ts';
import { timersOf } from './test-timers.ts';

type Behaviour = 'well' | 'hangs' | 'hangs at writes' | 'down' | 'closes connections';
let behaviour: Behaviour = 'well';
/** Calls that hang. */
let inside = 0;

/** An EHR that behaves as `mood` says. */
function misbehaving(connector: Connector): Connector {
  return new Proxy(connector, {
    get(target, property) {
      const method: unknown = target[property as keyof Connector];
      if (typeof method !== 'function') return method;
      return (...input: unknown[]) => {
        if (behaviour === 'hangs' || (behaviour === 'hangs at writes' && property === 'changeAppointments')) {
          inside++;
          return new Promise(() => undefined);
        }
        if (behaviour === 'down') throw new ConnectorError('unavailable', 'down', { retryAfterSeconds: resetSeconds });
        if (behaviour === 'closes connections') throw new ConnectorError('connection_closed', 'closed');
        return method(...input);
      };
    },
  });
}

/** Hanging calls end when the test ends them. */
const timeoutMs = 54_321;
const resetSeconds = 30;
/** How far the gateway's clock is ahead. */
let shift = 0;
const dateNow = Date.now;
vi.spyOn(Date, 'now').mockImplementation(() => dateNow() + shift);
const skipBreakerPause = () => {
  shift += (resetSeconds + 1) * 1000;
};

const connection = resolveConnection({
  timeout_ms: timeoutMs,
  concurrency: 3,
  queue: 3,
  queue_timeout_ms: 1500,
  changes_seconds: 0,
  breaker: { failures: 4, reset_seconds: resetSeconds },
});
const gateway = await startGateway({
  connectors: [wrapConnector((connector, emr) => (emr === 'sandbox-se' ? misbehaving(connector) : connector))],
  configure: (configuration) => ({
    ...withConsole(configuration),
    emrs: configuration.emrs.map((emr) => (emr.id === 'sandbox-se' ? { ...emr, connection } : emr)),
  }),
});
afterAll(async () => {
  await gateway.close();
  vi.restoreAllMocks();
});

const ask = (careUnit: string) => gateway.request<Problem>('GET', `${careUnit}/resources`);
const healthOf = async () =>
  (await gateway.request<{ status: string; breaker: string }>('GET', '/api/emrs/sandbox-se')).body;

/** What the overview of the console shows. */
const overview = async () => {
  operator ??= (await browserWith(gateway, 'kari', 'view')).browser;
  return (await operator.open('/console')).text;
};
let operator: ConsoleBrowser | undefined;

afterEach(async () => {
  behaviour = 'well';
  inside = 0;
  skipBreakerPause();
  await expect.poll(async () => (await ask(sodermalm)).status).toBe(200);
  expect(await healthOf()).toMatchObject({ status: 'available', breaker: 'closed' });
});

test('an EHR that hangs does not slow another', async () => {
  behaviour = 'hangs';
  const timers = timersOf(timeoutMs);
  let over = 0;
  const hanging = Array.from({ length: 3 }, () => ask(sodermalm).finally(() => over++));
  await expect.poll(() => inside).toBe(3);
  const healthy = await Promise.all(Array.from({ length: 20 }, () => ask(oslo)));
  expect(over).toBe(0);
  for (const { status } of healthy) expect(status).toBe(200);
  timers.end();
  for (const { status, body } of await Promise.all(hanging)) {
    expect({ status, reason: body.reason }).toEqual({ status: 504, reason: 'ehr_timeout' });
  }
});

test('a connection that closes before the response is reported as such', async () => {
  behaviour = 'closes connections';
  expect(await ask(sodermalm)).toMatchObject({
    status: 504,
    body: {
      reason: 'ehr_timeout',
      title: 'No response from the EHR',
      detail: 'The connection to the EHR closed before the response. Nothing was changed.',
    },
  });
  const { text } = await gateway.request('GET', '/metrics', { client: null });
  expect(text).toMatch(/ehr_calls_total\{emr="sandbox-se",operation="listResources",outcome="connection_closed"\} 1/);
});

test('a call is rejected at once with Retry-After if the queue is full', async () => {
  behaviour = 'hangs';
  const timers = timersOf(timeoutMs);
  const rejected: GatewayResponse<Problem>[] = [];
  const all = Array.from({ length: 12 }, async () => {
    const response = await ask(sodermalm);
    if (response.status === 503) rejected.push(response);
  });
  // Three have a turn; the others are too many, or wait too long for a turn.
  await expect.poll(() => rejected.length).toBe(9);
  timers.end();
  await Promise.all(all);
  for (const { headers, body } of rejected) {
    expect(body).toMatchObject({ reason: 'ehr_unavailable', origin: 'ehr', retryable: true });
    expect(Number(headers['retry-after'])).toBeGreaterThan(0);
  }
});

describe('an EHR that keeps failing', () => {
  test('opens the circuit breaker, is reported, and gets a test call later', async () => {
    behaviour = 'down';
    for (let count = 0; count < 4; count++) {
      const { status, headers, body } = await ask(sodermalm);
      expect({ status, reason: body.reason, after: headers['retry-after'] }).toEqual({
        status: 503,
        reason: 'ehr_unavailable',
        after: String(resetSeconds),
      });
    }
    expect(await healthOf()).toMatchObject({ status: 'unavailable', breaker: 'open' });
    expect(await overview()).toMatch(
      /Not available sandbox-se · last success [\w ]+ ago Calls to Sandlådan Sverige .*? 5 min \d+ \d/,
    );
    behaviour = 'well';
    const { status, headers, body } = await ask(sodermalm);
    expect({ status, reason: body.reason }).toEqual({ status: 503, reason: 'ehr_unavailable' });
    expect(Number(headers['retry-after'])).toBeLessThanOrEqual(resetSeconds);
    expect((await ask(oslo)).status).toBe(200);
    skipBreakerPause();
    expect(await healthOf()).toMatchObject({ status: 'degraded', breaker: 'half_open' });
    expect(await overview()).toContain('Trying again sandbox-se');
    expect((await ask(sodermalm)).status).toBe(200);
    expect(await healthOf()).toMatchObject({ status: 'available', breaker: 'closed' });
    expect(await overview()).toContain('Available sandbox-se');
    expect(gateway.logLines.join('')).toContain('"breaker":"open"');
  });

  test('is not confused with invalid requests of callers', async () => {
    for (let count = 0; count < 8; count++) {
      const { status } = await gateway.request('GET', `${sodermalm}/patients/nobody`);
      expect(status).toBe(404);
    }
    expect(await healthOf()).toMatchObject({ breaker: 'closed' });
  });
});

test('a write that times out has an unknown outcome', async () => {
  const slot = await freeSlot(gateway, { careUnit: sodermalm });
  behaviour = 'hangs at writes';
  const timers = timersOf(timeoutMs);
  const booking = gateway.request<Problem>('POST', `${sodermalm}/appointments`, { body: creationBody(slot) });
  await expect.poll(() => inside).toBe(1);
  timers.end();
  const { status, body } = await booking;
  expect({ status, reason: body.reason }).toEqual({ status: 504, reason: 'outcome_unknown' });
});

test('calls are counted in /metrics, without values from callers', async () => {
  await ask(oslo);
  const text = await gateway.deps.metrics.metrics();
  expect(text).toMatch(/crossward_ehr_calls_total\{emr="sandbox-no",operation="listResources",outcome="ok"\} \d+/);
  expect(text).toContain('crossward_ehr_breaker_state{emr="sandbox-se",state="closed"} 1');
});
