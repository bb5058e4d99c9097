import { Temporal } from 'temporal-polyfill';

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
