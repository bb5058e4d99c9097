import { Temporal } from 'temporal-polyfill';

/** RFC 3339 date-time with an optional offset. Without one, it is local time of the care unit. */
const dateTimePattern = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{1,9})?(Z|[+-]\d{2}:\d{2})?$/i;
const localPattern = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}$/;

const usualPattern = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{1,3})?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$/;

const careUnitPattern = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(Z|[+-]\d{2}:\d{2})?$/;

const localLength = 'YYYY-MM-DDThh:mm:ss'.length;
const dayMilliseconds = 24 * 60 * 60 * 1000;

/** Years that PostgreSQL, FHIR servers and JavaScript all support. */
const firstYear = 1900;
const lastYear = 2200;

/** A local time that does not exist, because clocks in the time zone are set forward over it. */
export class NonexistentLocalTime extends Error {}

/** Whether the text is a valid RFC 3339 date-time, with or without an offset. */
export function isDateTime(text: string): boolean {
  if (!dateTimePattern.test(text) || !isYearTaken(text)) return false;
  const upper = text.toUpperCase();
  if (!hasOffset(upper)) return isCalendarTime(upper);
  return usualInstant(upper) !== undefined || tryParse(() => Temporal.Instant.from(upper));
}

/** Whether the text is a valid date-time of the form `YYYY-MM-DDThh:mm:ss`. */
export function isLocalDateTime(text: string): boolean {
  return localPattern.test(text) && isYearTaken(text) && isCalendarTime(text);
}

/** Whether the text is a valid date-time of the form `YYYY-MM-DDThh:mm:ss`, perhaps with an offset. */
export function isCareUnitDateTime(text: string): boolean {
  return careUnitPattern.test(text) && isDateTime(text);
}

/**
 * The instant of a date-time accepted by `isDateTime`. Without an offset, it is local time in the time zone. A local
 * time that occurs twice means its first occurrence.
 *
 * @throws NonexistentLocalTime
 */
export function toInstant(text: string, timeZone: string): Date {
  const upper = text.toUpperCase();
  if (hasOffset(upper)) return new Date(usualInstant(upper) ?? Temporal.Instant.from(upper).epochMilliseconds);
  const unambiguous = localPattern.test(upper) ? farFromClockChanges(upper, timeZone) : undefined;
  if (unambiguous) return unambiguous;
  const local = Temporal.PlainDateTime.from(upper);
  const zoned = local.toZonedDateTime(timeZone, { disambiguation: 'earlier' });
  if (!zoned.toPlainDateTime().equals(local)) throw new NonexistentLocalTime();
  return new Date(zoned.epochMilliseconds);
}

/** When the clocks in the time zone were set forward over a local time for which `toInstant` throws. */
export function clockChangeOver(text: string, timeZone: string): Date {
  const before = Temporal.PlainDateTime.from(text).toZonedDateTime(timeZone, { disambiguation: 'earlier' });
  return new Date((before.getTimeZoneTransition('next') ?? before).epochMilliseconds);
}

/**
 * Milliseconds since 1970 of a date-time with an offset, if it is no leap second and has whole milliseconds. `Temporal` takes a
 * tenth of the processor time of a search for time slots.
 */
function usualInstant(upper: string): number | undefined {
  return usualPattern.test(upper) && isCalendarTime(upper) ? Date.parse(upper) : undefined;
}

/**
 * The instant of a local time, if the clock does not change within a day of it. `Temporal` takes longer than the rest of
 * the validation of a request.
 */
function farFromClockChanges(local: string, timeZone: string): Date | undefined {
  const asIfUtc = Date.parse(`${local}Z`);
  const before = offsetAt(new Date(asIfUtc - dayMilliseconds), timeZone);
  const after = offsetAt(new Date(asIfUtc + dayMilliseconds), timeZone);
  return before === after ? new Date(asIfUtc - before.offset) : undefined;
}

/** Whether a date-time accepted by `isDateTime` has no offset, or the one of the time zone at that instant. */
export function hasOffsetOf(timeZone: string, text: string): boolean {
  if (!hasOffset(text)) return true;
  const instant = toInstant(text, timeZone);
  return formatInstant(instant, timeZone).slice(0, localLength) === text.slice(0, localLength);
}

/** Formats an instant like `2026-03-20T09:00:00+01:00`: local offset, whole seconds, UTC as `+00:00`. */
export function formatInstant(instant: Date, timeZone: string): string {
  const { offset, text } = offsetAt(instant, timeZone);
  const local = new Date(instant.getTime() + offset).toISOString();
  return local.slice(0, -'.000Z'.length) + text;
}

/** The day of an instant in a time zone: `YYYY-MM-DD`. */
export function localDay(instant: Date, timeZone: string): string {
  return formatInstant(instant, timeZone).slice(0, 'YYYY-MM-DD'.length);
}

/** Cache of instants by time zone: lists of time slots repeat them. */
const written = new Map<string, Map<number, string>>();
const instantsKept = 10_000;

/** `formatInstant` with a cache. */
export function instantFormatter(timeZone: string): (instant: Date) => string {
  const known = written.get(timeZone) ?? new Map<number, string>();
  written.set(timeZone, known);
  return (instant) => {
    const at = instant.getTime();
    const kept = known.get(at);
    if (kept !== undefined) return kept;
    const text = formatInstant(instant, timeZone);
    if (known.size >= instantsKept) known.clear();
    known.set(at, text);
    return text;
  };
}

/**
 * When a day such as `2026-11-22` begins in a time zone, or a later day. `undefined`: the text is no day.
 *
 * @param laterDays how many days later
 */
export function startOfDay(text: string, timeZone: string, laterDays = 0): Date | undefined {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text) || !isYearTaken(text) || !isCalendarTime(`${text}T00:00:00`)) return undefined;
  const midnight = new Date(Date.parse(text) + laterDays * dayMilliseconds).toISOString().slice(0, localLength);
  const exactly = () => new Date(Temporal.PlainDate.from(midnight).toZonedDateTime(timeZone).epochMilliseconds);
  return farFromClockChanges(midnight, timeZone) ?? exactly();
}

function hasOffset(text: string): boolean {
  return /(Z|[+-]\d{2}:\d{2})$/.test(text);
}

/** Whether a date-time of the right form is one of the calendar, whatever the year. */
export function isCalendarTime(text: string): boolean {
  const wholeSeconds = text.slice(0, localLength);
  const instant = new Date(`${wholeSeconds}Z`);
  // A time such as 24:00:00 or 30 February counts as a later one. A leap second is not a time.
  return !Number.isNaN(instant.getTime()) && instant.toISOString().startsWith(wholeSeconds);
}

function isYearTaken(text: string): boolean {
  const year = Number(text.slice(0, 4));
  return year >= firstYear && year <= lastYear;
}

function tryParse(parse: () => unknown): boolean {
  try {
    parse();
    return true;
  } catch {
    return false;
  }
}

/** A period with a constant UTC offset. Milliseconds since 1970. */
interface Period {
  readonly from: number;
  readonly until: number;
  readonly offset: number;
  /** `+01:00`, `+00:00` for UTC. */
  readonly text: string;
}

/** Cache of periods. A time zone has a few hundred of them at most in the supported years. */
const periods = new Map<string, Period[]>();

/**
 * The UTC offset of the time zone at this instant. Cached, because calling `Temporal` for each of a hundred time slots
 * takes longer than the rest of the request.
 */
export function offsetAt(instant: Date, timeZone: string): Pick<Period, 'offset' | 'text'> {
  const at = instant.getTime();
  let known = periods.get(timeZone);
  if (!known) {
    known = [];
    periods.set(timeZone, known);
  }
  let period = known.find(({ from, until }) => from <= at && at < until);
  if (!period) {
    period = periodAround(at, timeZone);
    known.push(period);
  }
  return period;
}

function periodAround(at: number, timeZone: string): Period {
  const there = Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(timeZone);
  // `getTimeZoneTransition('previous')` excludes a transition at this exact instant.
  const before = there.add({ nanoseconds: 1 }).getTimeZoneTransition('previous');
  const after = there.getTimeZoneTransition('next');
  return {
    from: before?.epochMilliseconds ?? Number.NEGATIVE_INFINITY,
    until: after?.epochMilliseconds ?? Number.POSITIVE_INFINITY,
    offset: there.offsetNanoseconds / 1_000_000,
    text: there.toString({ timeZoneName: 'never', smallestUnit: 'second' }).slice(-'+00:00'.length),
  };
}
