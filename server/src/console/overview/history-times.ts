import type { Column } from '../../history/columns.ts';
import { type Html, html } from '../../html/html.ts';

/** Words and times of a history, in local time with UTC beside it. */
export interface Times {
  /** What the whole history covers. */
  readonly period: string;
  /** `in an hour`. */
  readonly each: string;
  /** `each hour`. */
  readonly every: string;
  readonly heading: string;
  readonly one: string;
  readonly many: string;
  /** Whose time it is. */
  readonly zone: string;
  unfinished(columns: readonly Column[]): string;
  /** For an axis: some of the columns, at equal distances. */
  labels(columns: readonly Column[]): readonly string[];
  range(column: Column): string;
  cell(column: Column): Html;
}

/** The times of the hours or days of a history. */
export function timesOf(unit: 'hour' | 'day', timeZone: string): Times {
  const isUtc = timeZone === 'UTC';
  const format = (options: Intl.DateTimeFormatOptions, zone = timeZone) =>
    new Intl.DateTimeFormat('en-GB', { ...options, timeZone: zone }).format;
  const clock = format({ hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });
  const date = format({ day: 'numeric', month: 'short' });
  const utcClock = format({ hour: '2-digit', minute: '2-digit', hourCycle: 'h23' }, 'UTC');
  const utcDate = format({ day: 'numeric', month: 'short' }, 'UTC');
  const isHour = unit === 'hour';
  const utc = (at: Date) => `${isHour ? '' : `${utcDate(at)} `}${utcClock(at)} UTC`;
  const range = ({ from, until }: Column) => (isHour ? `${date(from)} ${clock(from)} to ${clock(until)}` : date(from));
  return {
    period: isHour ? 'The last 24 hours' : 'The last 30 days',
    each: isHour ? 'in an hour' : 'on a day',
    every: `each ${unit}`,
    heading: isHour ? 'Hour' : 'Day',
    one: `one ${unit}`,
    many: `${unit}s`,
    zone: isUtc ? 'Times are in UTC.' : `Times are in ${timeZone}.`,
    unfinished: (columns) => {
      const last = columns.at(-1);
      const began = last && `${clock(last.from)}${isUtc ? '' : ` (${utc(last.from)})`}`;
      return began ? `The last ${unit} began at ${began} and is not over.` : '';
    },
    labels: (columns) => {
      const distance = isHour ? 6 : 10;
      return columns
        .filter((_, index) => index % distance === 0)
        .map(({ from }) => (isHour ? clock(from) : date(from)));
    },
    range,
    cell: ({ from }) =>
      html`${date(from)}${isHour && ` ${clock(from)}`}${
        !isUtc && html` <span class="quiet">${!isHour && 'from '}${utc(from)}</span>`
      }`,
  };
}
