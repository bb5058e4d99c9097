import { ConnectorError } from '@crossward/connector-kit';
import { Temporal } from 'temporal-polyfill';

/** Which of its two instants a local time has in the hour that autumn's clock change repeats. */
export type RepeatedHour = 'first' | 'second' | 'refuse';

export interface Period {
  readonly start: Date;
  readonly end: Date;
}

/** A local date as the contracts write it: `yyyyMMdd`. */
export function localDate(instant: Date, timeZone: string): string {
  const { year, month, day } = zoned(instant, timeZone);
  return [String(year).padStart(4, '0'), two(month), two(day)].join('');
}

function zoned(instant: Date, timeZone: string): Temporal.ZonedDateTime {
  return Temporal.Instant.fromEpochMilliseconds(instant.getTime()).toZonedDateTimeISO(timeZone);
}

function two(value: number): string {
  return String(value).padStart(2, '0');
}

/**
 * The instants of a local time: none in the hour that spring's clock change skips, two in the hour that autumn's repeats.
 *
 * @throws ConnectorError `rejected` if the text is no time of the calendar. The schemas accept day 00 and 31 February.
 */
export function instantsOf(text: string, timeZone: string): readonly Date[] {
  const [, year, month, day, hour, minute, second] =
    /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)$/.exec(text)?.map(Number) ?? [];
  let local: Temporal.PlainDateTime;
  try {
    local = Temporal.PlainDateTime.from(
      { year, month, day, hour, minute, second } as Required<Temporal.PlainDateTimeLike>,
      { overflow: 'reject' },
    );
  } catch {
    throw new ConnectorError('rejected', 'The EHR responded with a time that the calendar does not have');
  }
  const both = (['earlier', 'later'] as const).map((disambiguation) =>
    local.toZonedDateTime(timeZone, { disambiguation }),
  );
  const real = both.filter((it) => it.toPlainDateTime().equals(local)).map((it) => it.epochMilliseconds);
  return [...new Set(real)].map((it) => new Date(it));
}

/**
 * The period between two local times. In the repeated hour, the rule says which instant the start has, and the end is the next
 * one after it.
 *
 * @returns `undefined` for a start in the repeated hour if the rule is to refuse it
 * @throws ConnectorError `rejected` if there is no such period
 */
export function periodOf(start: string, end: string, timeZone: string, rule: RepeatedHour): Period | undefined {
  const starts = instantsOf(start, timeZone);
  if (starts.length > 1 && rule === 'refuse') return undefined;
  const ends = instantsOf(end, timeZone);
  for (const from of rule === 'second' ? starts.toReversed() : starts) {
    const to = ends.find((it) => it > from);
    if (to) return { start: from, end: to };
  }
  throw new ConnectorError('rejected', 'The EHR responded with a time that does not exist, or ends before it starts');
}
