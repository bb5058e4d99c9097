import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Connector, ConnectorError, type ConnectorOperation } from '@crossward/connector-kit';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { creationBody, freeSlot, oslo, sodermalm } from '../../../../test/bookings.ts';
import { type Problem, startGateway } from '../../../../test/gateway.ts';
import { anotherConnector } from '../../../../test/other-ehrs.ts';
import { resolveConnection } from '../../config/connection.ts';
import { temporaryFolder } from '../../config/test-support.ts';
import { ConfigurationError } from '../../startup/configuration-error.ts';
import { httpSettings } from './settings.ts';

type Mood = 'well' | 'hangs' | 'hangs at writes' | 'down';
let mood: Mood = 'well';
const inside = new Set<ConnectorOperation>();

/** An EHR that does as `mood` says. */
function moody(connector: Connector): Connector {
  return new Proxy(connector, {
    get(target, property) {
      const method: unknown = target[property as keyof Connector];
      if (typeof method !== 'function') return method;
      return (...input: unknown[]) => {
        if (mood === 'hangs' || (mood === 'hangs at writes' && property === 'changeAppointments')) {
          inside.add(property as ConnectorOperation);
          return new Promise(() => undefined);
        }
        if (mood === 'down') throw new ConnectorError('unavailable', 'down', { retryAfterSeconds: 3 });
        return method(...input);
      };
    },
  });
}

const connection = resolveConnection({
  timeout_ms: 4000,
  concurrency: 3,
  queue: 3,
  queue_timeout_ms: 1500,
  breaker: { failures: 4, reset_seconds: 1 },
});
const gateway = await startGateway({
  connectors: [anotherConnector((connector, emr) => (emr === 'sandbox-se' ? moody(connector) : connector))],
  configure: (configuration) => ({
    ...configuration,
    emrs: configuration.emrs.map((emr) => (emr.id === 'sandbox-se' ? { ...emr, connection } : emr)),
  }),
});
afterAll(() => gateway.close());

const ask = (careUnit: string) => gateway.request<Problem>('GET', `${careUnit}/resources`);
const healthOf = async () =>
  (await gateway.request<{ status: string; breaker: string }>('GET', '/api/emrs/sandbox-se')).body;

afterEach(async () => {
  mood = 'well';
  await expect.poll(async () => (await ask(sodermalm)).status).toBe(200);
  expect(await healthOf()).toMatchObject({ status: 'available', breaker: 'closed' });
});

test('an EHR that hangs does not slow another', async () => {
  mood = 'hangs';
  let over = 0;
  const hanging = Array.from({ length: 3 }, () => ask(sodermalm).finally(() => over++));
  await expect.poll(() => inside.has('listResources')).toBe(true);
  const healthy = await Promise.all(Array.from({ length: 20 }, () => ask(oslo)));
  expect(over).toBe(0);
  for (const { status } of healthy) expect(status).toBe(200);
  for (const { status, body } of await Promise.all(hanging)) {
    expect({ status, reason: body.reason }).toEqual({ status: 504, reason: 'ehr_timeout' });
  }
});

test('a call is refused at once with Retry-After if the queue is full', async () => {
  mood = 'hangs';
  const answers = await Promise.all(Array.from({ length: 12 }, () => ask(sodermalm)));
  const refused = answers.filter(({ status }) => status === 503);
  expect(refused.length).toBeGreaterThanOrEqual(6);
  for (const { headers, body } of refused) {
    expect(body).toMatchObject({ reason: 'ehr_unavailable', origin: 'ehr', retryable: true });
    expect(Number(headers['retry-after'])).toBeGreaterThan(0);
  }
});

describe('an EHR that keeps failing', () => {
  test('opens the circuit breaker, shows it, and is tested again', async () => {
    mood = 'down';
    for (let count = 0; count < 4; count++) {
      const { status, headers, body } = await ask(sodermalm);
      expect({ status, reason: body.reason, after: headers['retry-after'] }).toEqual({
        status: 503,
        reason: 'ehr_unavailable',
        after: '3',
      });
    }
    expect(await healthOf()).toMatchObject({ status: 'unavailable', breaker: 'open' });
    mood = 'well';
    const { status, headers, body } = await ask(sodermalm);
    expect({ status, reason: body.reason }).toEqual({ status: 503, reason: 'ehr_unavailable' });
    expect(Number(headers['retry-after'])).toBeLessThanOrEqual(3);
    expect((await ask(oslo)).status).toBe(200);
    await expect.poll(healthOf).toMatchObject({ status: 'degraded', breaker: 'half_open' });
    expect((await ask(sodermalm)).status).toBe(200);
    expect(await healthOf()).toMatchObject({ status: 'available', breaker: 'closed' });
    expect(gateway.logLines.join('')).toContain('"breaker":"open"');
  });

  test('is distinguished from invalid requests of callers', async () => {
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
  const { status, body } = await gateway.request<Problem>('POST', `${sodermalm}/appointments`, {
    body: creationBody(slot),
  });
  expect({ status, reason: body.reason }).toEqual({ status: 504, reason: 'outcome_unknown' });
});

test('calls are counted in /metrics, without text from callers', async () => {
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
