/** @module-tag any-database */
import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import { startGateway } from '../gateway/gateway.ts';
import { withConsole } from '../requests/console.ts';
import { readAlertRules } from './alert-rules.ts';

// The console has metrics too.
const gateway = await startGateway({ configure: withConsole });
afterAll(() => gateway.close());

/** Metrics of Prometheus itself. */
const ofPrometheus = ['up', 'ALERTS'];
/** Words of PromQL, which stand where a metric can stand. */
const words = ['by', 'on', 'without', 'or', 'and', 'unless', 'offset'];

/** The names of the metrics in an expression, without the labels. */
function metricsIn(expression: string): string[] {
  const bare = expression.replaceAll(/\{[^}]*\}|\[[^\]]*\]/g, ' ').replaceAll(/\b(?:by|on|without) *\([^)]*\)/g, ' ');
  return [...bare.matchAll(/\b[a-zA-Z_]\w*\b(?! *\()/g)].map(([name]) => name).filter((it) => !words.includes(it));
}

interface Panel {
  readonly title: string;
  readonly targets?: readonly { readonly expr: string }[];
}

const folder = fileURLToPath(new URL('../../deploy/grafana/', import.meta.url));
const dashboards = globSync('*.json', { cwd: folder }).map(
  (file) =>
    JSON.parse(readFileSync(`${folder}${file}`, 'utf8')) as { readonly uid: string; readonly panels: readonly Panel[] },
);

/** The names of the series that `/metrics` can have: histograms have several. */
async function seriesNames(): Promise<Set<string>> {
  const { text } = await gateway.request('GET', '/metrics', { client: null });
  const kinds = [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name = '', kind = '']) => ({ name, kind }));
  const ofHistogram = (name: string) => ['_bucket', '_sum', '_count'].map((end) => `${name}${end}`);
  return new Set(kinds.flatMap(({ name, kind }) => (kind === 'histogram' ? ofHistogram(name) : [name])));
}

test('the names in an expression are found', () => {
  const expression = 'sum by (job, le) (rate(a_total{b="c"}[5m])) / on (x) d unless a_total offset 10m > 2e3';
  expect(metricsIn(expression)).toEqual(['a_total', 'd', 'a_total']);
});

test('each metric of the alert rules and the dashboards is one of the gateway', async () => {
  const known = new Set([...ofPrometheus, ...(await seriesNames())]);
  const rules = readAlertRules().map(({ alert, expr }) => ({ where: alert, expr }));
  const targets = dashboards.flatMap(({ uid, panels }) =>
    panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => ({ where: `${uid}: ${title}`, expr }))),
  );
  expect(dashboards.length).toBe(2);
  expect(targets.length).toBeGreaterThan(40);
  const withMetrics = ({ where, expr }: { where: string; expr: string }) => ({ where, metrics: metricsIn(expr) });
  const inDashboards = targets.map(withMetrics);
  const used = [...rules.map(withMetrics), ...inDashboards];
  expect(used.filter(({ metrics }) => metrics.length === 0)).toEqual([]);
  expect(
    used.flatMap(({ where, metrics }) => metrics.filter((it) => !known.has(it)).map((it) => `${where}: ${it}`)),
  ).toEqual([]);
  // Each metric of its own is in a dashboard.
  const shown = new Set(
    inDashboards.flatMap(({ metrics }) => metrics.map((it) => it.replace(/_(?:bucket|sum|count)$/, ''))),
  );
  const own = [...known]
    .filter((it) => it.startsWith('crossward_'))
    .map((it) => it.replace(/_(?:bucket|sum|count)$/, ''));
  expect(own.filter((it) => !shown.has(it))).toEqual([]);
});
