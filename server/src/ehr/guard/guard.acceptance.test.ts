/** @module-tag any-database */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Connector, ConnectorError } from '@crossward/connector-kit';
import { afterAll, afterEach, describe, expect, test, vi } from 'vitest';
import { creationBody, freeSlot, oslo, sodermalm } from '../../../../test/bookings.ts';
import { type Answer, type Problem, startGateway } from '../../../../test/gateway.ts';
import { wrapConnector } from '../../../../test/other-ehrs.ts';
import { resolveConnection } from '../../config/connection.ts';
import { temporaryFolder } from '../../config/test-support.ts';
import { ConfigurationError } from '../../startup/configuration-error.ts';
import { httpSettings } from './settings.ts';
import { timersOf } from './test-timers.ts';

type Mood = 'well' | 'hangs' | 'hangs at writes' | 'down' | 'closes connections';
let mood: Mood = 'well';
/** Calls that hang. */
let inside = 0;

/** An EHR that behaves as `mood` says. */
function moody(connector: Connector): Connector {
  return new Proxy(connector, {
    get(target, property) {
      const method: unknown = target[property as keyof Connector];
      if (typeof method !== 'function') return method;
      return (...input: unknown[]) => {
        if (mood === 'hangs' || (mood === 'hangs at writes' && property === 'changeAppointments')) {
          inside++;
          return new Promise(() => undefined);
        }
        if (mood === 'down') throw new ConnectorError('unavailable', 'down', { retryAfterSeconds: resetSeconds });
        if (mood === 'closes connections') throw new ConnectorError('connection_closed', 'closed');
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
const letBreakersReset = () => {
  shift += (resetSeconds + 1) * 1000;
};

const connection = resolveConnection({
  timeout_ms: timeoutMs,
  concurrency: 3,
  queue: 3,
  queue_timeout_ms: 1500,
  breaker: { failures: 4, reset_seconds: resetSeconds },
});
const gateway = await startGateway({
  connectors: [wrapConnector((connector, emr) => (emr === 'sandbox-se' ? moody(connector) : connector))],
  configure: (configuration) => ({
    ...configuration,
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

afterEach(async () => {
  mood = 'well';
  inside = 0;
  letBreakersReset();
  await expect.poll(async () => (await ask(sodermalm)).status).toBe(200);
  expect(await healthOf()).toMatchObject({ status: 'available', breaker: 'closed' });
});

test('an EHR that hangs does not slow another', async () => {
  mood = 'hangs';
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
  mood = 'closes connections';
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
  mood = 'hangs';
  const timers = timersOf(timeoutMs);
  const refused: Answer<Problem>[] = [];
  const all = Array.from({ length: 12 }, async () => {
    const answer = await ask(sodermalm);
    if (answer.status === 503) refused.push(answer);
  });
  // Three have a turn; the others are too many, or wait too long for a turn.
  await expect.poll(() => refused.length).toBe(9);
  timers.end();
  await Promise.all(all);
  for (const { headers, body } of refused) {
    expect(body).toMatchObject({ reason: 'ehr_unavailable', origin: 'ehr', retryable: true });
    expect(Number(headers['retry-after'])).toBeGreaterThan(0);
  }
});

describe('an EHR that keeps failing', () => {
  test('opens the circuit breaker, is reported, and gets a test call later', async () => {
    mood = 'down';
    for (let count = 0; count < 4; count++) {
      const { status, headers, body } = await ask(sodermalm);
      expect({ status, reason: body.reason, after: headers['retry-after'] }).toEqual({
        status: 503,
        reason: 'ehr_unavailable',
        after: String(resetSeconds),
      });
    }
    expect(await healthOf()).toMatchObject({ status: 'unavailable', breaker: 'open' });
    mood = 'well';
    const { status, headers, body } = await ask(sodermalm);
    expect({ status, reason: body.reason }).toEqual({ status: 503, reason: 'ehr_unavailable' });
    expect(Number(headers['retry-after'])).toBeLessThanOrEqual(resetSeconds);
    expect((await ask(oslo)).status).toBe(200);
    letBreakersReset();
    expect(await healthOf()).toMatchObject({ status: 'degraded', breaker: 'half_open' });
    expect((await ask(sodermalm)).status).toBe(200);
    expect(await healthOf()).toMatchObject({ status: 'available', breaker: 'closed' });
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
  mood = 'hangs at writes';
  const timers = timersOf(timeoutMs);
  const asked = gateway.request<Problem>('POST', `${sodermalm}/appointments`, { body: creationBody(slot) });
  await expect.poll(() => inside).toBe(1);
  timers.end();
  const { status, body } = await asked;
  expect({ status, reason: body.reason }).toEqual({ status: 504, reason: 'outcome_unknown' });
});

test('calls are counted in /metrics, without values from callers', async () => {
  await ask(oslo);
  const text = await gateway.deps.metrics.metrics();
  expect(text).toMatch(/crossward_ehr_calls_total\{emr="sandbox-no",operation="listResources",outcome="ok"\} \d+/);
  expect(text).toContain('crossward_ehr_breaker_state{emr="sandbox-se",state="closed"} 1');
});

test('an unreadable ca_file prevents the start', async () => {
  const folder = await temporaryFolder();
  const path = join(folder, 'ca.pem');
  await expect(httpSettings(resolveConnection({ ca_file: path }))).rejects.toThrow(ConfigurationError);
  await writeFile(path, 'no certificate');
  await expect(httpSettings(resolveConnection({ ca_file: path }))).rejects.toThrow(
    `${path}: cannot be read as PEM certificates (ca_file)`,
  );
});
