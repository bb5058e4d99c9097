import { dateIn, localInstants } from '@crossward/connector-kit/rest';
import { Temporal } from 'temporal-polyfill';

/** Which of its two instants a local time has in the hour that autumn's clock change repeats. */
export type RepeatedHour = 'first' | 'second' | 'refuse';

export interface Period {
  readonly start: Date;
  readonly end: Date;
}

/** A local date as the contracts write it: `yyyyMMdd`. */
export function localDate(instant: Date, timeZone: string): string {
  return dateIn(timeZone, instant).replaceAll('-', '');
}

/** A time of a record. `undefined`: the calendar has no such time. The schemas accept day 00 and 31 February. */
export function readLocalTime(text: string | undefined): Temporal.PlainDateTime | undefined {
  // Some producers leave out the seconds.
  const parts = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)?$/.exec(text ?? '');
  if (!parts) return undefined;
  const [year, month, day, hour, minute, second] = parts.slice(1).map((it) => Number(it ?? 0));
  const fields = { year, month, day, hour, minute, second } as Required<Temporal.PlainDateTimeLike>;
  try {
    return Temporal.PlainDateTime.from(fields, { overflow: 'reject' });
  } catch {
    return undefined;
  }
}

/** As `localInstants`. In the skipped hour all times are the instant at which the clocks go on. */
export function reachedAt(local: Temporal.PlainDateTime, timeZone: string): readonly Date[] {
  const instants = localInstants(timeZone, local.toString());
  if (instants.length > 0) return instants;
  const change = local.toZonedDateTime(timeZone, { disambiguation: 'earlier' }).getTimeZoneTransition('next');
  return change ? [new Date(change.epochMilliseconds)] : [];
}

/**
 * The period of a free time. In the repeated hour the rule says which instant the start has, and the end is the next one after it.
 * An end in the skipped hour is the instant at which the clocks go on, because ends are exclusive.
 *
 * @returns
 *   - `not offered`: the start is in the skipped hour, or in the repeated one if the rule is to refuse it
 *   - `undefined`: the times are none, or the end is not after the start
 */
export function freePeriod(
  start: string | undefined,
  end: string | undefined,
  timeZone: string,
  rule: RepeatedHour = 'refuse',
): Period | 'not offered' | undefined {
  const [from, to] = [readLocalTime(start), readLocalTime(end)];
  if (!from || !to) return undefined;
  const starts = localInstants(timeZone, from.toString());
  if (starts.length === 0 || (starts.length > 1 && rule === 'refuse')) return 'not offered';
  return firstPeriod(inOrder(starts, rule), reachedAt(to, timeZone));
}

/**
 * The period of a booking, as that of a free time, but a booking is never left out because of the hour in which it starts.
 *
 * @returns an `end` of `null` if the record does not say when it ends, or says something else; `undefined` without a start
 */
export function bookedPeriod(
  start: string | undefined,
  end: string | undefined,
  timeZone: string,
  rule: RepeatedHour = 'refuse',
): { readonly start: Date; readonly end: Date | null } | undefined {
  const [from, to] = [readLocalTime(start), readLocalTime(end)];
  if (!from) return undefined;
  const starts = inOrder(reachedAt(from, timeZone), rule);
  const [first] = starts;
  return firstPeriod(starts, to ? reachedAt(to, timeZone) : []) ?? (first && { start: first, end: null });
}

function inOrder(starts: readonly Date[], rule: RepeatedHour): readonly Date[] {
  return rule === 'second' ? starts.toReversed() : starts;
}

function firstPeriod(starts: readonly Date[], ends: readonly Date[]): Period | undefined {
  for (const start of starts) {
    const end = ends.find((it) => it > start);
    if (end) return { start, end };
  }
  return undefined;
}
