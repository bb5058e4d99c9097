import { randomUUID } from 'node:crypto';
import { type Connector, ConnectorError } from '@crossward/connector-kit';
import { afterAll, expect, test } from 'vitest';
import type { Configuration } from '../server/src/config/configuration.ts';
import { withTolerantBreakers, wrapConnector } from './ehrs/other-ehrs.ts';
import { type Gateway, type Problem, startGateway } from './gateway/gateway.ts';
import { type Appointment, creationBody, freeSlot, oslo } from './requests/bookings.ts';
import { eventually, rowsOf } from './requests/codes.ts';
import { browserWith, withConsole } from './requests/console.ts';

const emr = 'sandbox-no';
let calls = 0;
/** After a write, of which the answer is lost, the EHR is away. */
let losesWrites = false;
let isAway = false;

const connector = wrapConnector((opened, id) => (id === emr ? watched(opened) : opened));

function watched(opened: Connector): Connector {
  const methods = Object.entries(opened).filter(([, it]) => typeof it === 'function');
  const counting = methods.map(([name, method]) => [
    name,
    async (...input: unknown[]) => {
      calls++;
      if (isAway) throw new ConnectorError('unavailable', 'Away');
      const result: unknown = await Reflect.apply(method, opened, input);
      if (!losesWrites || name !== 'changeAppointments') return result;
      isAway = true;
      throw new ConnectorError('outcome_unknown', 'Lost');
    },
  ]);
  return { ...opened, ...Object.fromEntries(counting) };
}

const configure = (it: Configuration) => withTolerantBreakers(withConsole(it));
const options = { configure, connectors: [connector], intervals: { events: 200 } };
const first = await startGateway(options);
const second = await startGateway({ ...options, beside: first });
afterAll(async () => {
  await second.close();
  await first.close();
});

interface Emr {
  readonly status: string;
  readonly paused_until: string | null;
}

const stateOf = async (gateway: Gateway) => {
  const { status, paused_until } = (await gateway.request<Emr>('GET', `/api/emrs/${emr}`)).body;
  return { status, paused_until };
};
const operations = () => rowsOf(first, `SELECT state, consecutive_failures FROM operations WHERE emr = '${emr}'`);
const events = async () =>
  (await rowsOf(first, `SELECT type, data FROM events WHERE type LIKE 'emr.%' ORDER BY sequence`)) as {
    type: string;
    data: unknown;
  }[];

test('a paused EHR is not called by any gateway until it is resumed, and a write that waits is completed then', async () => {
  const { browser } = await browserWith(first, 'kari', 'operate');
  const body = creationBody(await freeSlot(first));
  const headers = { 'idempotency-key': randomUUID() };
  const write = (gateway: Gateway) =>
    gateway.request<Problem & Appointment>('POST', `${oslo}/appointments`, { body, headers });
  const pause = async (duration: string) => {
    await browser.open(`/console/connections/${emr}`);
    return browser.submit(`/console/connections/${emr}/pause`, { duration });
  };
  losesWrites = true;
  expect((await write(first)).status).toBe(504);

  const { text } = await pause('60');
  expect(text).toMatch(/The EHR is paused\..*Operators have paused the EHR until .*2\d{3}.*, since .*2\d{3}/);
  const ready = await first.request('GET', '/health/ready', { client: null });
  expect(ready.body).toMatchObject({ emrs_not_open: [], emrs_paused: [emr] });
  // The gateway of the console follows at once.
  expect(await stateOf(first)).toMatchObject({ status: 'paused', paused_until: expect.any(String) });
  await eventually(async () => expect(await stateOf(second)).toEqual(await stateOf(first)));
  losesWrites = false;
  isAway = false;
  // Calls that began before may still be running.
  await eventually(async () =>
    expect(await rowsOf(first, 'SELECT 1 FROM operations WHERE lease_token IS NOT NULL')).toEqual([]),
  );
  await rowsOf(first, `UPDATE operations SET next_attempt_at = now(), consecutive_failures = 0 WHERE emr = '${emr}'`);
  const before = calls;

  for (const gateway of [first, second]) {
    for (const path of ['/patients/p-1', '/resources', '/healthcare-services']) {
      const response = await gateway.request<Problem>('GET', `${oslo}${path}`);
      expect(response).toMatchObject({
        status: 503,
        body: { reason: 'ehr_paused', retryable: true, detail: expect.stringMatching(/paused this EHR until 2\d{3}-/) },
      });
      expect(Number(response.headers['retry-after'])).toBeGreaterThan(50 * 60);
      expect(Number(response.headers['retry-after'])).toBeLessThanOrEqual(60 * 60);
    }
    // Other EHRs are not concerned.
    const other = '/api/emrs/sandbox-uk/care-units/riverside/resources';
    expect((await gateway.request('GET', other)).status).toBe(200);
    // Nobody can look now whether the write was made.
    expect((await write(gateway)).body.reason).toBe('outcome_unknown');
  }
  await eventually(async () =>
    expect(await events()).toEqual([
      { type: 'emr.unavailable', data: expect.objectContaining({ status: 'unavailable', reason: 'paused' }) },
    ]),
  );
  expect(await operations()).toEqual([{ state: 'pending', consecutive_failures: 0 }]);
  expect(calls).toBe(before);
  const figures = (gateway: Gateway) => {
    const ehr = gateway.deps.ehrs.get(emr);
    return ehr && gateway.deps.console?.readFigures(ehr);
  };
  expect(figures(second)).toMatchObject({ state: 'paused', pause: { until: expect.any(Date) } });

  await pause('open');
  await eventually(async () => expect(await stateOf(second)).toEqual(await stateOf(first)));
  expect(await stateOf(first)).toMatchObject({ status: 'paused', paused_until: null });
  const { body: problem } = await second.request<Problem>('GET', `${oslo}/resources`);
  expect(problem.detail).toContain('until further notice');

  await browser.open(`/console/connections/${emr}`);
  await browser.submit(`/console/connections/${emr}/resume`);
  expect(await stateOf(first)).toMatchObject({ status: 'available', paused_until: null });
  await eventually(async () => expect(await stateOf(second)).toMatchObject({ status: 'available' }));
  await eventually(async () => expect((await operations())[0]).not.toMatchObject({ state: 'pending' }));
  const { status, body: booked } = await write(second);
  expect(status).toBe(201);
  const query = new URLSearchParams({ patient_id: booked.patient_id });
  const found = await first.request<{ appointments: unknown[] }>('GET', `${oslo}/appointments?${query}`);
  expect(found.body.appointments).toMatchObject([{ id: booked.id }]);
  await eventually(async () =>
    expect((await events()).map(({ type }) => type)).toEqual(['emr.unavailable', 'emr.recovered']),
  );

  const activity = await rowsOf(
    first,
    `SELECT operator_name, action, outcome FROM operator_activity WHERE target = '${emr}' ORDER BY id`,
  );
  expect(activity).toEqual([
    { operator_name: 'kari', action: 'emr_pause', outcome: 'done' },
    { operator_name: 'kari', action: 'emr_pause', outcome: 'done' },
    { operator_name: 'kari', action: 'emr_resume', outcome: 'done' },
  ]);
});

test('a gateway that starts while an EHR is paused does not open its connection, and is ready', async () => {
  const { browser } = await browserWith(first, 'ola', 'operate');
  await browser.open(`/console/connections/${emr}`);
  await browser.submit(`/console/connections/${emr}/pause`, { duration: 'open' });
  const third = await startGateway({
    ...options,
    configure: (it) => ({ ...configure(it), http: { ...it.http, ready_waits_for_emrs: true } }),
    beside: first,
  });
  try {
    expect(await stateOf(third)).toMatchObject({ status: 'paused', paused_until: null });
    expect(await third.request('GET', `${oslo}/resources`)).toMatchObject({ body: { reason: 'ehr_paused' } });
    expect((await third.request('GET', '/health/ready', { client: null })).status).toBe(200);
    await browser.open(`/console/connections/${emr}`);
    await browser.submit(`/console/connections/${emr}/resume`);
    await eventually(async () => expect((await third.request('GET', `${oslo}/resources`)).status).toBe(200));
  } finally {
    await third.close();
  }
});

test('only operators who may operate pause an EHR, with the token of their form', async () => {
  const viewer = await browserWith(first, 'vera', 'view');
  await viewer.browser.open(`/console/connections/${emr}`);
  const refused = await viewer.browser.submit(`/console/connections/${emr}/pause`, { duration: 'open' });
  expect(refused.status).toBe(403);
  const operator = await browserWith(first, 'otto', 'operate');
  await operator.browser.open(`/console/connections/${emr}`);
  const forged = await operator.browser.submit(`/console/connections/${emr}/pause`, {
    duration: 'open',
    form_token: 'x',
  });
  expect(forged.status).not.toBe(200);
  expect(await stateOf(first)).toMatchObject({ status: 'available' });
  await operator.browser.open(`/console/connections/${emr}`);
  await operator.browser.submit(`/console/connections/${emr}/pause`, { duration: 'always' });
  await operator.browser.open(`/console/connections/${emr}`);
  await operator.browser.submit(`/console/connections/${emr}/resume`);
  expect(await stateOf(first)).toMatchObject({ status: 'available' });
  expect(
    await rowsOf(first, `SELECT action, outcome FROM operator_activity WHERE operator_name = 'otto' ORDER BY id`),
  ).toEqual([
    { action: 'emr_pause', outcome: 'not_possible' },
    { action: 'emr_resume', outcome: 'not_possible' },
  ]);
});
