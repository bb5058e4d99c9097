import type { MinuteOfCalls } from '../../ehr/guard/call-history.ts';
import { type Html, html } from '../../html/html.ts';
import { duration } from '../frame/parts.ts';

const height = 64;
const step = 10;

/** The sums of the calls of the last hour. */
export interface HourOfCalls {
  readonly calls: number;
  readonly failures: number;
  /** Milliseconds, the middle of the minutes, each counted for its served calls. `null`: no served call. */
  readonly median: number | null;
  readonly slowest: number | null;
}

export function sumUp(minutes: readonly MinuteOfCalls[]): HourOfCalls {
  const sum = (of: (minute: MinuteOfCalls) => number) => minutes.reduce((total, minute) => total + of(minute), 0);
  const slow = minutes.flatMap(({ p95 }) => p95 ?? []);
  return {
    calls: sum(({ calls }) => calls),
    failures: sum(({ failures }) => failures),
    median: middle(minutes),
    slowest: slow.length > 0 ? Math.max(...slow) : null,
  };
}

/** A minute with one slow call does not outweigh one with many quick ones. */
function middle(minutes: readonly MinuteOfCalls[]): number | null {
  const byLatency = minutes
    .flatMap(({ median, calls, failures }) => (median === null ? [] : { median, served: calls - failures }))
    .sort((a, b) => a.median - b.median);
  const half = byLatency.reduce((sum, { served }) => sum + served, 0) / 2;
  let counted = 0;
  for (const { median, served } of byLatency) {
    counted += served;
    if (counted >= half) return median;
  }
  return null;
}

/** Calls for each minute, with the failed part below. */
export function callsChart(minutes: readonly MinuteOfCalls[]): Html {
  const end = axisEnd(Math.max(...minutes.map(({ calls }) => calls)), leastAxis.callsAMinute);
  const { calls, failures } = sumUp(minutes);
  return chart(
    `Calls for each minute of the last hour: ${calls}, of which ${failures} failed`,
    `0 to ${end} a minute`,
    [
      ...minutes.map(({ calls }, index) => bar('calls', index, calls / end)),
      ...minutes.map(({ failures }, index) => bar('failed', index, failures / end)),
    ],
  );
}

/** Latency for each minute: half and 95 % of the calls took less. */
export function latencyChart(minutes: readonly MinuteOfCalls[]): Html {
  const { median, slowest } = sumUp(minutes);
  const end = axisEnd(slowest ?? 0, leastAxis.milliseconds);
  const text =
    median === null
      ? 'Latency in the last hour: no calls'
      : `Latency in the last hour: typically ${milliseconds(median)}, 95 % of the slowest minute ${milliseconds(slowest ?? 0)}`;
  return chart(text, slowest === null ? 'no calls' : `0 to ${milliseconds(end)}`, [
    ...minutes.map(({ p95 }, index) => bar('slow', index, (p95 ?? 0) / end)),
    ...minutes.map(({ median }, index) => bar('median', index, (median ?? 0) / end)),
  ]);
}

/** A duration such as `12 ms` or `3 s`. */
export function milliseconds(value: number): string {
  return value < 2000 ? `${value}\u00a0ms` : duration(value / 1000);
}

function bar(kind: string, index: number, share: number): Html | false {
  if (share <= 0) return false;
  const length = Math.max(2, Math.round(share * height));
  return html`<rect class="${kind}" x="${index * step + 1}" y="${height - length}" width="${step - 2}" height="${length}"/>`;
}

function chart(label: string, scale: string, bars: readonly (Html | false)[]): Html {
  return html`<div class="chart"><svg viewBox="0 0 ${60 * step} ${height}" preserveAspectRatio="none" role="img" aria-label="${label}">${bars}</svg>
<p class="scale" aria-hidden="true"><span>60 min ago</span><span>${scale}</span><span>now</span></p></div>`;
}

/** Where an axis ends at the least, so that one quick call, or a single booking, does not look like a full bar. */
export const leastAxis = { milliseconds: 100, callsAMinute: 10, happenings: 5 } as const;

/** The end of an axis that begins at 0: the next 1, 2 or 5 with zeros that is not below the highest value or the least end. */
export function axisEnd(highest: number, least: number): number {
  const needed = Math.max(highest, least);
  const power = 10 ** Math.floor(Math.log10(needed));
  return [1, 2, 5].map((step) => step * power).find((end) => end >= needed) ?? 10 * power;
}
