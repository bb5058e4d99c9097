/** @module-tag any-database */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Connector, ConnectorError } from '@crossward/connector-kit';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { resolveConnection } from '../server/src/config/connection.ts';
import { wrapConnector } from './ehrs/other-ehrs.ts';
import { startGateway } from './gateway/gateway.ts';
import { oslo } from './requests/bookings.ts';
import { eventually } from './requests/codes.ts';
import { browserWith, withConsole } from './requests/console.ts';

let isBroken = false;

/** An EHR that answers everything with 500 while it is broken. */
function breaking(connector: Connector): Connector {
  return new Proxy(connector, {
    get(target, property) {
      const method: unknown = target[property as keyof Connector];
      if (typeof method !== 'function') return method;
      return async (...input: unknown[]) => {
        if (!isBroken) return method(...input);
        throw new ConnectorError('rejected', 'The EHR responded with 500', { refusal: { status: 500 } });
      };
    },
  });
}

/** Long, so that the breaker is open while the test looks. */
const connection = resolveConnection({ breaker: { failures: 5, reset_seconds: 300 } });
const gateway = await startGateway({
  configure: (configuration) => ({
    ...withConsole(configuration),
    emrs: configuration.emrs.map((emr) => (emr.id === 'sandbox-no' ? { ...emr, connection } : emr)),
  }),
  connectors: [wrapConnector((connector, emr) => (emr === 'sandbox-no' ? breaking(connector) : connector))],
});
afterAll(() => gateway.close());

const metrics = async () => (await gateway.request('GET', '/metrics', { client: null })).text;

/** Whether the alert fires if the series with this name stay as the gateway shows them. */
async function fires(alert: string, name: string, labels: string): Promise<boolean> {
  const series = (await metrics()).split('\n').filter((line) => line.startsWith(`${name}{`));
  const input = series.map((line) => {
    const [, shown = '', value = ''] = /^\w+\{(.*)\} (\S+)$/.exec(line) ?? [];
    return { series: `${name}{job="crossward",instance="a",${shown}}`, values: `${value}x20` };
  });
  const folder = mkdtempSync(join(tmpdir(), 'crossward-alerts-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, 'test.yaml');
  const expr = `ALERTS{alertname="${alert}",alertstate="firing"}`;
  const expected = [{ labels: `ALERTS{alertname="${alert}",alertstate="firing",job="crossward",${labels}}`, value: 1 }];
  // YAML contains JSON.
  writeFileSync(
    file,
    JSON.stringify({
      rule_files: [fileURLToPath(new URL('../deploy/prometheus/alerts.yaml', import.meta.url))],
      evaluation_interval: '30s',
      tests: [
        {
          interval: '30s',
          input_series: input,
          promql_expr_test: [{ expr, eval_time: '3m', exp_samples: expected }],
        },
      ],
    }),
  );
  return spawnSync('promtool', ['test', 'rules', file], { encoding: 'utf8' }).status === 0;
}
const hasPromtool = spawnSync('promtool', ['--version']).status === 0;

test('an EHR that answers everything with 500 is told by API, event, console, log, metric and alert', async () => {
  const { browser } = await browserWith(gateway, 'kari', 'view');
  const ask = () => gateway.request('GET', `${oslo}/patients/emr_id:p-3`);
  expect((await ask()).status).toBe(200);
  isBroken = true;
  await eventually(async () => {
    await ask();
    const { body } = await gateway.request('GET', '/api/emrs/sandbox-no');
    expect(body).toMatchObject({ status: 'unavailable', breaker: 'open' });
  });
  expect(gateway.logLines.some((line) => /"fault":"the EHR responded with 500".*"EHR unavailable"/.test(line))).toBe(
    true,
  );
  expect(await metrics()).toContain('crossward_ehr_breaker_state{emr="sandbox-no",state="open"} 1');
  expect(await metrics()).toMatch(
    /crossward_ehr_calls_total\{emr="sandbox-no",operation="findPatient",outcome="fault"\}/,
  );
  expect((await browser.open('/console')).text).toContain('The EHR is not available: the EHR responded with 500');
  await eventually(async () => {
    const { text } = await gateway.request('GET', '/api/events');
    expect(text).toContain('emr.unavailable');
  });
  if (hasPromtool) {
    const labels = 'emr="sandbox-no",severity="critical"';
    expect(await fires('CrosswardEhrUnavailable', 'crossward_ehr_breaker_state', labels)).toBe(true);
  }
});
