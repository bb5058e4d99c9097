import type { GatewayFigures, MergedFigures } from '../ehr/figures.ts';
import { type Html, html } from '../html/html.ts';
import { badge } from './parts.ts';

const others = 'Other gateways have their own.';

/** Says which processes the figures of the EHRs are from: each keeps its own in memory. */
export function scopeOf({ workers, processes }: GatewayFigures): string {
  const seenBy = 'Circuit breaker, calls, errors and latency of the last hour, as seen by';
  if (workers === undefined) return `${seenBy} this gateway since its start. ${others}`;
  if (processes.length >= workers)
    return `${seenBy} all ${workers} workers of this gateway since their start. ${others}`;
  const seen = `${processes.length} of ${workers} workers`;
  return `${seenBy} ${seen} of this gateway since their start; the rest did not respond in time. ${others}`;
}

const troubles = [
  ['not_connected', 'bad', 'Not connected yet'],
  ['open', 'bad', 'Circuit breaker open'],
  ['half_open', 'notice', 'Circuit breaker testing'],
] as const;

/** The state of an EHR, and in how many workers. */
export function stateBadge({ states }: MergedFigures, hasWorkers: boolean): Html {
  const all = [...states.values()].reduce((sum, count) => sum + count, 0);
  if (all === 0) return badge('neutral', 'Not known');
  const where = (count: number) => {
    if (!hasWorkers) return '';
    return count === all ? ` in all ${all} workers` : ` in ${count} of ${all} workers`;
  };
  const found = troubles.flatMap(([state, tone, text]) => {
    const count = states.get(state) ?? 0;
    return count > 0 ? [badge(tone, `${text}${where(count)}`)] : [];
  });
  return found.length > 0 ? html`<span class="badges">${found}</span>` : badge('good', 'Available');
}
