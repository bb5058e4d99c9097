/** @module-tag any-database */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Connector, ConnectorError } from '@crossward/connector-kit';
import { afterAll, afterEach, expect, test } from 'vitest';
import { resolveConnection } from '../../server/src/config/schema/connection.ts';
import { withEhr, wrapConnector } from '../ehrs/other-ehrs.ts';
import { startGateway } from '../gateway/gateway.ts';
import { eventually } from '../requests/codes.ts';
import { browserWith, withConsole } from '../requests/console.ts';
import { readMetrics, whyNotFiring } from './alerts.ts';

/** Each incident has its EHR. */
const incidents = ['broken', 'silent', 'slow'] as const;
type Incident = (typeof incidents)[number];

let happening: Incident | undefined;
afterEach(() => {
  happening = undefined;
});

/** Longer than what the alert and the console call slow. */
const slowMs = 5_100;

async function meet(incident: Incident): Promise<void> {
  if (incident === 'broken') {
    throw new ConnectorError('rejected', 'The EHR responded with 500', { refusal: { status: 500 } });
  }
  if (incident === 'silent') throw new ConnectorError('timeout', 'The EHR did not respond in time');
  await sleep(slowMs);
}

function troubled(connector: Connector, emr: string): Connector {
  return new Proxy(connector, {
    get(target, property) {
      const method: unknown = target[property as keyof Connector];
      if (typeof method !== 'function') return method;
      return async (...input: unknown[]) => {
        if (happening === emr) await meet(happening);
        return method(...input);
      };
    },
  });
}

/** Long, so that the breaker is open while the test looks. */
const connection = resolveConnection({ changes_seconds: 0, breaker: { failures: 5, reset_seconds: 300 } });
const gateway = await startGateway({
  configure: (demo) => {
    const configuration = incidents.reduce(
      (all, id) => withEhr(all, { id, like: 'sandbox-no', policies: {} }),
      withConsole(demo),
    );
    return { ...configuration, emrs: configuration.emrs.map((emr) => ({ ...emr, connection })) };
  },
  connectors: [wrapConnector(troubled)],
});
afterAll(() => gateway.close());

const ask = (emr: Incident) => gateway.request('GET', `/api/emrs/${emr}/care-units/oslo-sentrum/patients/emr_id:p-3`);
const overview = async (name: string) => {
  const { browser } = await browserWith(gateway, name, 'view');
  return (await browser.open('/console')).text;
};

test.each([
  {
    emr: 'broken',
    answer: { status: 502, body: { reason: 'ehr_rejected' } },
    fault: 'the EHR responded with 500',
    outcome: 'fault',
  },
  {
    emr: 'silent',
    answer: { status: 504, body: { reason: 'ehr_timeout' } },
    fault: 'the EHR did not respond in time',
    outcome: 'timeout',
  },
] as const)(
  'an EHR that is $emr is told by API, event, console, log, metric and alert',
  async ({ emr, answer, fault, outcome }) => {
    expect((await ask(emr)).status).toBe(200);
    happening = emr;
    expect(await ask(emr)).toMatchObject(answer);
    await eventually(async () => {
      await ask(emr);
      const { body } = await gateway.request('GET', `/api/emrs/${emr}`);
      expect(body).toMatchObject({ status: 'unavailable', breaker: 'open' });
    });
    expect(await ask(emr)).toMatchObject({ status: 503, body: { reason: 'ehr_unavailable' } });
    const lines = gateway.logLines.filter(
      (line) => line.includes(`"emr":"${emr}"`) && line.includes('"EHR unavailable"'),
    );
    expect(lines).toEqual([expect.stringContaining(`"fault":"${fault}"`)]);
    expect(await overview(emr)).toContain(`The EHR is not available: ${fault}`);
    await eventually(async () => {
      const { text } = await gateway.request('GET', '/api/events?limit=500');
      expect(text).toMatch(new RegExp(`"type":"emr.unavailable"[^{]*"emr":"${emr}"`));
    });
    const metrics = await readMetrics(gateway);
    expect(metrics).toContain(`crossward_ehr_breaker_state{emr="${emr}",state="open"} 1`);
    expect(metrics).toMatch(
      new RegExp(`crossward_ehr_calls_total\\{emr="${emr}",operation="findPatient",outcome="${outcome}"\\}`),
    );
    const labels = `emr="${emr}",severity="critical"`;
    const metric = 'crossward_ehr_breaker_state';
    const ofEmr = metrics
      .split('\n')
      .filter((line) => line.includes(`emr="${emr}"`))
      .join('\n');
    expect(whyNotFiring(ofEmr, { alert: 'CrosswardEhrUnavailable', metric, labels, within: 3 })).toBe('');
  },
);

test('an EHR that answers late is told by console, metric and alert, and stays available', async () => {
  happening = 'slow';
  const answers = await Promise.all(Array.from({ length: 5 }, () => ask('slow')));
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
  happening = undefined;
  const { body } = await gateway.request('GET', '/api/emrs/slow');
  expect(body).toMatchObject({ status: 'available', breaker: 'closed' });
  expect(await overview('slow')).toContain(
    'The EHR is slow: half of 5 calls in the last five minutes took longer than 5',
  );
  const metrics = await readMetrics(gateway);
  const ofEmr = metrics
    .split('\n')
    .filter((line) => line.includes('emr="slow"'))
    .join('\n');
  const metric = 'crossward_ehr_call_duration_seconds_bucket';
  const labels = 'emr="slow",severity="warning"';
  expect(whyNotFiring(ofEmr, { alert: 'CrosswardEhrSlow', metric, labels, goesOn: true, within: 15 })).toBe('');
});
