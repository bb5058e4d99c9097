import { latencyOf, noLatencies } from '../../ehr/guard/call-history.ts';
import { type Column, lastDays, lastHours } from '../../history/columns.ts';
import { type Happening, happenings } from '../../history/happenings.ts';
import { type Counts, type EhrColumn, readCounts, readEhrColumns, unseen } from '../../history/read-history.ts';
import { type Html, html } from '../../html/html.ts';
import { consolePage } from '../frame/frame.ts';
import { type ConsoleResponse, linkTo, type Route, type SignedIn } from '../frame/page.ts';
import { duration, table, time } from '../frame/parts.ts';
import { timeZoneOf } from '../frame/time-zone.ts';
import { axisEnd, leastAxis, milliseconds } from './chart.ts';
import { type Times, timesOf } from './history-times.ts';
import { plot } from './plot.ts';

const names = {
  booked: 'Bookings',
  moved: 'Moves',
  cancelled: 'Cancellations',
  code_sent: 'Codes sent',
  code_confirmed: 'Codes confirmed',
  message_failed: 'Failed messages',
  delivered: 'Webhook deliveries',
  delivery_failed: 'Failed deliveries',
} as const satisfies Record<Happening, string>;

const failures: ReadonlySet<Happening> = new Set(['message_failed', 'delivery_failed']);

/** What a period shows: each column, and whether a gateway ran in it. */
interface Period {
  readonly times: Times;
  readonly columns: readonly (Column & { readonly isGap: boolean })[];
}

/** The section of the overview with the plots of the last 24 hours. */
export async function historyOfDay(context: SignedIn): Promise<Html> {
  return html`<div class="title"><h2 id="history">Last 24 hours</h2>
<p class="quiet">All gateways · <a href="${linkTo(context, 'history')}">30 days</a></p></div>
${await historyPlots(context, 'hour')}`;
}

/** Plots of the last 24 hours, or of the last 30 days: what happened in all gateways, and each EHR as they saw it. */
async function historyPlots(context: SignedIn, unit: 'hour' | 'day'): Promise<Html> {
  const { services, now } = context.deps;
  const timeZone = timeZoneOf(context.deps);
  const columns = (unit === 'hour' ? lastHours : lastDays)(now(), timeZone);
  const counts = await readCounts(services.db, columns);
  const ehrs = await readEhrColumns(services.db, columns);
  const isGap = (_: Column, index: number) =>
    [...ehrs.values()].every((seen) => seen[index]?.running === 0) &&
    Object.values(counts[index] ?? {}).every((count) => count === 0);
  const times = timesOf(unit, timeZone);
  const period: Period = {
    times,
    columns: columns.map((column, index) => ({ ...column, isGap: isGap(column, index) })),
  };
  return html`<p class="quiet">${times.zone} ${times.unfinished(period.columns)} ${gaps(period)}</p>
<div class="plots">
${happenings.map((kind) => countsPlot(kind, counts, period))}</div>
${countsTable(counts, period)}
${[...services.ehrs.values()].map(({ id, name }) => ehrPlots({ id, name }, ehrs.get(id) ?? columns.map(() => unseen), period))}`;
}

function gaps({ columns, times }: Period): string {
  const count = columns.filter(({ isGap }) => isGap).length;
  return count === 0 ? '' : `Grey: no gateway ran, ${count === 1 ? times.one : `${count} ${times.many}`}.`;
}

const number = new Intl.NumberFormat('en-GB');
const written = (value: number) => number.format(value);

function countsPlot(kind: Happening, counts: readonly Counts[], { columns, times }: Period): Html {
  const values = counts.map((it) => it[kind]);
  const end = axisEnd(Math.max(...values), leastAxis.happenings);
  return plot({
    id: `plot-${kind}`,
    name: names[kind],
    total: written(sum(values)),
    description: `${times.period}. ${described(values, columns, times)}`,
    end: written(end),
    times: times.labels(columns),
    columns: columns.map((column, index) => {
      const value = values[index] ?? 0;
      return {
        text: `${times.range(column)}: ${column.isGap ? 'no gateway ran' : written(value)}`,
        isGap: column.isGap,
        parts: [{ kind: failures.has(kind) ? 'failed' : 'counted', share: value / end }],
      };
    }),
  });
}

/** The highest value, the last one, and how many columns have none. */
function described(values: readonly number[], columns: Period['columns'], times: Times): string {
  const most = Math.max(...values);
  const [highest, last] = [columns[values.indexOf(most)], columns.at(-1)];
  if (most === 0 || !highest || !last) return 'None.';
  return `Most ${times.each}: ${written(most)}, ${times.range(highest)}. ${times.range(last)}, not over yet: ${written(values.at(-1) ?? 0)}.`;
}

function countsTable(counts: readonly Counts[], { columns, times }: Period): Html {
  const rows = columns.map((column, index) => [
    times.cell(column),
    ...happenings.map((kind) => (column.isGap ? '–' : written(counts[index]?.[kind] ?? 0))),
  ]);
  return asTable(
    `All gateways: figures of ${times.every}`,
    [times.heading, ...happenings.map((kind) => names[kind])],
    rows,
  );
}

interface EhrName {
  readonly id: string;
  readonly name: string;
}

function ehrPlots({ id, name }: EhrName, seen: readonly EhrColumn[], period: Period): Html {
  const { columns, times } = period;
  const all = sumUp(seen);
  const ran = seen.map(({ running }) => running > 0);
  const shares = columns.map(({ from, until }, index) => {
    const { known, unavailable } = seen[index] ?? unseen;
    const minutes = (until.getTime() - from.getTime()) / 60_000;
    return { available: (known - unavailable) / minutes, unavailable: unavailable / minutes };
  });
  const callsEnd = axisEnd(Math.max(...seen.map(({ calls }) => calls)), leastAxis.callsAMinute);
  const slowest = Math.max(0, ...seen.map(({ latencies }) => latencyOf(latencies, 0.95) ?? 0));
  const latencyEnd = axisEnd(slowest, leastAxis.milliseconds);
  const common = (kind: string) => ({ id: `plot-${kind}-${id}`, times: times.labels(columns) });
  const plotted = (textOf: (it: EhrColumn) => string, partsOf: (it: EhrColumn, index: number) => Parts) =>
    columns.map((column, index) => {
      const it = seen[index] ?? unseen;
      const text = `${times.range(column)}: ${ran[index] ? textOf(it) : 'no gateway ran'}`;
      return { text, isGap: !ran[index], parts: partsOf(it, index) };
    });
  return html`<h3>${name} <code class="quiet">${id}</code></h3>
<div class="plots wide">
${plot({
  ...common('state'),
  name: 'State',
  total: all.known === 0 ? 'not known' : `${percent(1 - all.unavailable / all.known)} available`,
  description: `${times.period}: ${stateInWords(all)}.`,
  end: '100\u00a0%',
  legend: [
    ['available', 'available'],
    ['unavailable', 'not available'],
  ],
  columns: plotted(stateInWords, (_, index) => [
    { kind: 'unavailable', share: shares[index]?.unavailable ?? 0 },
    { kind: 'available', from: shares[index]?.unavailable ?? 0, share: shares[index]?.available ?? 0 },
  ]),
})}${plot({
  ...common('calls'),
  name: 'Calls',
  total: written(all.calls),
  description: `${times.period}: ${callsInWords(all)}.`,
  end: written(callsEnd),
  legend: [
    ['calls', 'all'],
    ['failed', 'failed'],
  ],
  columns: plotted(callsInWords, ({ calls, failures: failed }) => [
    { kind: 'calls', share: calls / callsEnd },
    { kind: 'failed', share: failed / callsEnd },
  ]),
})}${plot({
  ...common('latency'),
  name: 'Latency',
  total: latencyShort(all),
  description: `${times.period}: ${latencyInWords(all)}.`,
  end: milliseconds(latencyEnd),
  legend: [
    ['median', 'typical'],
    ['slow', 'slow: 95 % took less'],
  ],
  columns: plotted(latencyInWords, ({ latencies }) => [
    { kind: 'slow', share: (latencyOf(latencies, 0.95) ?? 0) / latencyEnd },
    { kind: 'median', share: (latencyOf(latencies, 0.5) ?? 0) / latencyEnd },
  ]),
})}</div>
${ehrTable(name, seen, period)}`;
}

type Parts = Parameters<typeof plot>[0]['columns'][number]['parts'];

function ehrTable(name: string, seen: readonly EhrColumn[], { columns, times }: Period): Html {
  const headings = [times.heading, 'Available', 'Not available', 'Calls', 'Failed', 'Typical', 'Slow'];
  const rows = columns.map((column, index) => {
    const { running, known, unavailable, calls, failures: failed, latencies } = seen[index] ?? unseen;
    const figures = [
      known === 0 ? '–' : duration((known - unavailable) * 60),
      known === 0 ? '–' : duration(unavailable * 60),
      written(calls),
      written(failed),
      inMilliseconds(latencyOf(latencies, 0.5)),
      inMilliseconds(latencyOf(latencies, 0.95)),
    ];
    return [times.cell(column), ...(running === 0 ? figures.map(() => '–') : figures)];
  });
  return asTable(`${name}: figures of ${times.every}`, headings, rows);
}

function asTable(caption: string, headings: readonly string[], rows: Parameters<typeof table>[2]): Html {
  return html`<details><summary>${caption}, as a table</summary>
${table(`${caption}. –: not known, because no gateway ran or none had called the EHR.`, headings, rows)}</details>
`;
}

function sumUp(seen: readonly EhrColumn[]): EhrColumn {
  const total = (of: (it: EhrColumn) => number) => sum(seen.map(of));
  return {
    running: total(({ running }) => running),
    known: total(({ known }) => known),
    unavailable: total(({ unavailable }) => unavailable),
    calls: total(({ calls }) => calls),
    failures: total(({ failures: failed }) => failed),
    latencies: noLatencies.map((_, index) => total(({ latencies }) => latencies[index] ?? 0)),
  };
}

function stateInWords({ known, unavailable }: EhrColumn): string {
  if (known === 0) return 'not known, no call yet';
  if (unavailable === 0) return `available for ${duration(known * 60)}`;
  return `not available for ${duration(unavailable * 60)}, available for ${duration((known - unavailable) * 60)}`;
}

function callsInWords({ calls, failures: failed }: EhrColumn): string {
  return `${written(calls)} ${calls === 1 ? 'call' : 'calls'}, ${written(failed)} failed`;
}

function latencyInWords({ latencies }: EhrColumn): string {
  const median = latencyOf(latencies, 0.5);
  if (median === null) return 'no served call';
  return `half of the calls took at most ${milliseconds(median)}, 95 % at most ${inMilliseconds(latencyOf(latencies, 0.95))}`;
}

function latencyShort({ latencies }: EhrColumn): string {
  const median = latencyOf(latencies, 0.5);
  return median === null ? 'no call' : `${milliseconds(median)} typical`;
}

function inMilliseconds(value: number | null): string {
  return value === null ? '–' : milliseconds(value);
}

function percent(share: number): string {
  if (share < 1 && share > 0.9995) return 'over 99.9\u00a0%';
  return `${Math.round(share * 1000) / 10}\u00a0%`;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

export const routes: readonly Route[] = [{ method: 'GET', path: 'history', role: 'view', page: historyPage }];

/** The plots of the overview, over 30 days. */
async function historyPage(context: SignedIn): Promise<ConsoleResponse> {
  return consolePage(context, {
    title: 'Last 30 days',
    section: '',
    content: html`<div class="title"><h1>Last 30 days</h1>
<p class="quiet">${time(new Date())} · <a href="${linkTo(context, 'history')}">Refresh</a> · <a href="${linkTo(context, '')}#history">24 hours</a></p></div>
<h2>All gateways</h2>
${await historyPlots(context, 'day')}`,
  });
}
