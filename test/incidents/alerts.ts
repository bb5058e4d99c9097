import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import type { Gateway } from '../gateway/gateway.ts';

/** What Prometheus would see. */
interface Shown {
  readonly alert: string;
  /** The name of the metric, or of the series of a histogram. */
  readonly metric: string;
  /** Those of the alert in the order of their names, without `alertname`, `alertstate` and `job`. */
  readonly labels: string;
  /** Whether the same goes on happening, as for counters and histograms. Otherwise the values stay. */
  readonly goesOn?: boolean;
  /** When the alert fires, in minutes. */
  readonly within: number;
}

const hasPromtool = spawnSync('promtool', ['--version']).status === 0;
const rules = fileURLToPath(new URL('../../deploy/prometheus/alerts.yaml', import.meta.url));

export async function readMetrics(gateway: Pick<Gateway, 'request'>): Promise<string> {
  return (await gateway.request('GET', '/metrics', { client: null })).text;
}

/**
 * What promtool says of the alert if the metrics stay as `metrics` shows them, or go on as they have come about. Empty: it fires
 * within this time, or promtool is not installed.
 *
 * @param metrics as the gateway shows them
 */
export function whyNotFiring(metrics: string, { alert, metric, labels, goesOn = false, within }: Shown): string {
  if (!hasPromtool) return '';
  const shown = metrics.split('\n').flatMap((line) => {
    const [, name, inBraces = '', value = ''] = /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
    return name === metric ? [{ inBraces, value }] : [];
  });
  if (shown.length === 0) return `The gateway shows no ${metric}`;
  const steps = within * 2 + 2;
  const input = shown.map(({ inBraces, value }) => ({
    series: `${metric}{job="crossward",instance="a"${inBraces && `,${inBraces}`}}`,
    values: goesOn ? `0+${value}x${steps}` : `${value}x${steps}`,
  }));
  const expr = `ALERTS{alertname="${alert}",alertstate="firing"}`;
  const sample = `ALERTS{alertname="${alert}",alertstate="firing",job="crossward",${labels}}`;
  const folder = mkdtempSync(join(tmpdir(), 'crossward-alerts-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, 'test.yaml');
  const test = {
    interval: '30s',
    input_series: input,
    promql_expr_test: [{ expr, eval_time: `${within}m`, exp_samples: [{ labels: sample, value: 1 }] }],
  };
  // YAML contains JSON.
  writeFileSync(file, JSON.stringify({ rule_files: [rules], evaluation_interval: '30s', tests: [test] }));
  const { status, stdout, stderr } = spawnSync('promtool', ['test', 'rules', file], { encoding: 'utf8' });
  return status === 0 ? '' : `${stdout}${stderr}`;
}
