import { isDateTime, toInstant } from '../../time/date-times.ts';
import { searchFault } from './input.ts';

/** Starts from `from` on and before `until`. An open end is `undefined`. */
export interface Starts {
  readonly from: Date | undefined;
  readonly until: Date | undefined;
}

/**
 * Reads the values of a date parameter that compares starts. A date is a day in the care unit's time zone.
 * https://hl7.org/fhir/R4/search.html#date
 *
 * @throws Problem `request_invalid`
 */
export function readStarts(values: readonly string[], parameter: string, timeZone: string): Starts {
  return values.reduce<Starts>(
    (range, value) => {
      const { from, until } = readValue(value, parameter, timeZone);
      return { from: later(range.from, from), until: earlier(range.until, until) };
    },
    { from: undefined, until: undefined },
  );
}

function readValue(value: string, parameter: string, timeZone: string): Starts {
  const [, prefix = 'eq', date = ''] = /^(eq|ge|gt|le|lt|sa|eb|ne|ap)?(\d.*)$/.exec(value) ?? [];
  const span = spanOf(date, timeZone);
  if (!span) {
    const form = 'an optional prefix and a date, or a date-time with an offset';
    throw searchFault(parameter, `The query parameter ${parameter} must be ${form}.`);
  }
  const [first, end] = span;
  switch (prefix) {
    case 'eq':
      return { from: first, until: end };
    case 'ge':
      return { from: first, until: undefined };
    case 'gt':
    case 'sa':
      return { from: end, until: undefined };
    case 'lt':
    case 'eb':
      return { from: undefined, until: first };
    case 'le':
      return { from: undefined, until: end };
    default:
      throw searchFault(parameter, `The prefixes of ${parameter} are eq, ge, gt, le, lt, sa and eb.`, 'not-supported');
  }
}

/** The first instant that a date or date-time names, and the first one after it. */
function spanOf(text: string, timeZone: string): readonly [Date, Date] | undefined {
  const [, year, month, day, rest = ''] = /^(\d{4})(?:-(\d{2})(?:-(\d{2})(T.*)?)?)?$/.exec(withPlus(text)) ?? [];
  if (year === undefined) return undefined;
  if (rest !== '') return secondsOf(`${year}-${month}-${day}${withSeconds(rest)}`, timeZone);
  const next = new Date(Date.UTC(Number(year), Number(month ?? 1) - 1, Number(day ?? 1)));
  if (day !== undefined) next.setUTCDate(next.getUTCDate() + 1);
  else if (month !== undefined) next.setUTCMonth(next.getUTCMonth() + 1);
  else next.setUTCFullYear(next.getUTCFullYear() + 1);
  const from = startOfDay(`${year}-${month ?? '01'}-${day ?? '01'}`, timeZone);
  const until = startOfDay(next.toISOString().slice(0, 10), timeZone);
  return from && until ? [from, until] : undefined;
}

function startOfDay(date: string, timeZone: string): Date | undefined {
  return secondsOf(`${date}T00:00:00`, timeZone)?.[0];
}

function secondsOf(text: string, timeZone: string): readonly [Date, Date] | undefined {
  if (!isDateTime(text)) return undefined;
  const from = toInstant(text, timeZone);
  return [from, new Date(from.getTime() + 1000)];
}

/** An unencoded `+` in a query arrives as a space. */
function withPlus(text: string): string {
  return text.replace(/ (?=\d{2}:\d{2}$)/, '+');
}

/** https://hl7.org/fhir/R4/search.html#date: the seconds can be left out. */
function withSeconds(time: string): string {
  return time.replace(/^T(\d{2}:\d{2})(?=$|Z|[+-])/, 'T$1:00');
}

function later(a: Date | undefined, b: Date | undefined): Date | undefined {
  return a && b ? (a > b ? a : b) : (a ?? b);
}

function earlier(a: Date | undefined, b: Date | undefined): Date | undefined {
  return a && b ? (a < b ? a : b) : (a ?? b);
}

export function startsWithin({ from, until }: Starts, start: string): boolean {
  const at = new Date(start);
  return (from === undefined || at >= from) && (until === undefined || at < until);
}
