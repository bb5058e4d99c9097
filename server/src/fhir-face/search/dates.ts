import {
  clockChangeOver,
  isCalendarTime,
  isDateTime,
  NonexistentLocalTime,
  startOfDay,
  toInstant,
} from '../../time/date-times.ts';
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
    const form = 'an optional prefix and a date, or a date-time';
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

type Span = readonly [Date, Date];

const datePattern = /^(\d{4})(?:-(\d{2})(?:-(\d{2}))?)?$/;
/** https://hl7.org/fhir/R4/search.html#date: the minutes are required, the seconds are not. */
const timePattern = /^(\d{4}-\d{2}-\d{2}T\d{2}:\d{2})(?:(:\d{2})(\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2})?$/;

/** The first instant that a date or date-time names, and the first one after it. */
function spanOf(text: string, timeZone: string): Span | undefined {
  const [, year = '', month, day] = datePattern.exec(text) ?? [];
  if (year !== '') return spanOfDays(`${year}-${month ?? '01'}-${day ?? '01'}`, daysIn(year, month, day), timeZone);
  const [, minutes, seconds, fraction, offset = ''] = timePattern.exec(withPlus(text)) ?? [];
  if (minutes === undefined) return undefined;
  // Starts have whole seconds: the first that can be at or after a fraction is the next one.
  const length = seconds === undefined ? 60_000 : 1000;
  return spanOfTime(`${minutes}${seconds ?? ':00'}`, offset, Number(fraction ?? 0) > 0, length, timeZone);
}

function daysIn(year: string, month: string | undefined, day: string | undefined): number {
  if (day !== undefined) return 1;
  const first = new Date(`${year}-${month ?? '01'}-01T00:00:00Z`);
  const next = new Date(first);
  if (month === undefined) next.setUTCFullYear(next.getUTCFullYear() + 1);
  else next.setUTCMonth(next.getUTCMonth() + 1);
  return (next.getTime() - first.getTime()) / dayMs;
}

const dayMs = 86_400_000;

function spanOfDays(date: string, days: number, timeZone: string): Span | undefined {
  const from = isFar(date) ? farInstant(`${date}T00:00:00Z`) : startOfDay(date, timeZone);
  const until = isFar(date) ? from && new Date(from.getTime() + days * dayMs) : startOfDay(date, timeZone, days);
  return from && until ? [from, until] : undefined;
}

function spanOfTime(
  time: string,
  offset: string,
  hasFraction: boolean,
  length: number,
  timeZone: string,
): Span | undefined {
  const from = isFar(time) ? farInstant(`${time}${offset || 'Z'}`) : instantOf(`${time}${offset}`, timeZone);
  if (!from) return undefined;
  if ('skippedBy' in from) return [from.skippedBy, from.skippedBy];
  const after = new Date(from.getTime() + length);
  return hasFraction ? [after, after] : [from, after];
}

/** A time that the clocks skip is never: what is before it, and what is after it, is before and after the change. */
function instantOf(text: string, timeZone: string): Date | { readonly skippedBy: Date } | undefined {
  if (!isDateTime(text)) return undefined;
  try {
    return toInstant(text, timeZone);
  } catch (error) {
    if (!(error instanceof NonexistentLocalTime)) throw error;
    return { skippedBy: clockChangeOver(text, timeZone) };
  }
}

/** Years that native endpoints take. FHIR has those from 0001 to 9999, which stand for an open end. */
const firstInstant = new Date('1900-01-02T00:00:00Z');
const lastInstant = new Date('2200-12-30T00:00:00Z');

function isFar(text: string): boolean {
  const year = Number(text.slice(0, 4));
  return year < 1900 || year > 2200;
}

function farInstant(text: string): Date | undefined {
  return isCalendarTime(text) && !text.startsWith('0000') ? new Date(text) : undefined;
}

/** Whether a text is a day that FHIR has, and no native endpoint takes: nobody and nothing is of that day. */
export function isFarDay(text: string): boolean {
  return datePattern.exec(text)?.[3] !== undefined && isFar(text) && farInstant(`${text}T00:00:00Z`) !== undefined;
}

/** The part of a range in which a native search can look. An end that is far away is open. `undefined`: nothing is in it. */
export function nativeRange({ from, until }: Starts): Starts | undefined {
  if (from && until && from >= until) return undefined;
  if ((from && from > lastInstant) || (until && until < firstInstant)) return undefined;
  return {
    from: from && from > firstInstant ? from : undefined,
    until: until && until < lastInstant ? until : undefined,
  };
}

/** An unencoded `+` in a query arrives as a space. */
function withPlus(text: string): string {
  return text.replace(/ (?=\d{2}:\d{2}$)/, '+');
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
