/** @module-tag any-database */
import { ConnectorError, type DatabaseContext } from '@crossward/connector-kit';
import { sandboxConnector } from '@crossward/connector-sandbox';
import { afterAll, expect, test } from 'vitest';
import { startGateway } from '../../../test/gateway/gateway.ts';
import { browserWith, withConsole } from '../../../test/requests/console.ts';

const attempts = new Map<string, number>();
let isDown = true;
const bug = Promise.withResolvers<never>();

/** One of three EHRs is unavailable. The connector of another one has a bug that shows late. */
const gateway = await startGateway({
  configure: (configuration) => ({
    ...withConsole(configuration),
    http: { ...configuration.http, ready_waits_for_emrs: true },
  }),
  connectors: [
    {
      ...sandboxConnector,
      async open(context: DatabaseContext<never>) {
        const attempt = (attempts.get(context.emr) ?? 0) + 1;
        attempts.set(context.emr, attempt);
        if (context.emr === 'sandbox-se' && isDown) throw new ConnectorError('unavailable', 'Simulated failure');
        if (context.emr === 'sandbox-uk' && attempt === 1) await bug.promise;
        return sandboxConnector.open(context);
      },
    },
  ],
});
afterAll(() => gateway.close());

const careUnit = '/api/emrs/sandbox-se/care-units/sodermalm';
const statusOf = async (path: string) => (await gateway.request('GET', path)).status;
const linesOf = (emr: string) =>
  gateway.logLines
    .map((line) => JSON.parse(line))
    .filter((line) => line.emr === emr && /connector|EHR unavailable, retrying|EHR connected/.test(line.msg));

test('an EHR that is unreachable at the start does not delay others and gets ehr_unavailable', async () => {
  const { body } = await gateway.request<{ emrs: { id: string; status: string }[] }>('GET', '/api/emrs');
  expect(body.emrs.map(({ id, status }) => [id, status])).toEqual([
    ['sandbox-no', 'available'],
    ['sandbox-se', 'unavailable'],
    ['sandbox-uk', 'unavailable'],
  ]);
  for (const path of ['/patients/se_personal_number:191212121212', '/resources', '/appointments?patient_id=p-1']) {
    const response = await gateway.request('GET', `${careUnit}${path}`);
    expect(response).toMatchObject({
      status: 503,
      body: { reason: 'ehr_unavailable', retryable: true },
    });
    expect(Number(response.headers['retry-after'])).toBeGreaterThan(0);
    expect(Number(response.headers['retry-after'])).toBeLessThanOrEqual(30);
  }
  expect(await statusOf('/api/emrs/sandbox-no/care-units/oslo-sentrum/patients/p-1')).toBe(200);
});

test('the overview of the console shows an EHR that is not connected yet', async () => {
  const { browser } = await browserWith(gateway, 'kari', 'view');
  const { text } = await browser.open('/console');
  expect(text).toContain('Not connected yet sandbox-se · no successful call yet Calls to Sandlådan Sverige');
  expect(text).toContain('Available sandbox-no');
});

const ready = () => gateway.request('GET', '/health/ready', { client: null });

test('readiness waits for every EHR if configured, and names those that are not open', async () => {
  expect(await ready()).toMatchObject({
    status: 503,
    body: { status: 'unavailable', emrs_not_open: ['sandbox-se', 'sandbox-uk'] },
  });
});

test('retries opening a connector until it succeeds, and logs each kind of failure once', async () => {
  const uk = '/api/emrs/sandbox-uk';
  expect(await gateway.request('GET', uk)).toMatchObject({
    status: 200,
    body: { status: 'unavailable', last_success_at: null, capabilities: { operations: [] } },
  });
  bug.reject(new TypeError('Simulated failure'));
  await expect.poll(() => attempts.get('sandbox-se'), { interval: 100 }).toBeGreaterThanOrEqual(3);
  expect(await ready()).toMatchObject({ status: 503, body: { emrs_not_open: expect.arrayContaining(['sandbox-se']) } });
  const failures = attempts.get('sandbox-se');
  isDown = false;
  // The pauses become longer with each attempt.
  const within = { interval: 500 };
  await expect.poll(() => statusOf(`${careUnit}/patients/se_personal_number:191212121212`), within).toBe(200);
  await expect.poll(() => statusOf(`${uk}/care-units/riverside/resources`), within).toBe(200);
  expect(await gateway.request('GET', uk)).toMatchObject({ body: { status: 'available' } });
  expect(await ready()).toMatchObject({ status: 200, body: { status: 'ok', emrs_not_open: [] } });
  expect(linesOf('sandbox-se').map(({ kind, level, fault }) => [kind, level, fault])).toEqual([
    ['unavailable', 40, 'simulated failure'],
    [undefined, 30, undefined],
  ]);
  expect(linesOf('sandbox-uk').map(({ kind, level, cause }) => [kind, level, cause?.type])).toEqual([
    ['bug', 50, 'TypeError'],
    [undefined, 30, undefined],
  ]);
  const { text } = await gateway.request('GET', '/metrics', { client: null });
  expect(text).toContain(
    `crossward_ehr_calls_total{emr="sandbox-se",operation="open",outcome="unavailable"} ${failures}`,
  );
});
