import { Temporal } from 'temporal-polyfill';

/** A time in which a zone's clock is not changed. Milliseconds since 1970. */
interface Stretch {
  readonly from: number;
  readonly until: number;
  readonly offset: number;
  /** `+01:00`, `+00:00` for UTC. */
  readonly text: string;
}

/** A zone's clock changes a few times a year at most: in all the years that the interface takes, some hundred times. */
const stretches = new Map<string, Stretch[]>();

/**
 * How far the clock of the time zone is from UTC at this instant. Asking `Temporal` anew for each of a hundred time slots
 * costs more than all the rest of the request.
 */
export function offsetAt(instant: Date, timeZone: string): Pick<Stretch, 'offset' | 'text'> {
  const at = instant.getTime();
  let known = stretches.get(timeZone);
  if (!known) {
    known = [];
    stretches.set(timeZone, known);
  }
  let stretch = known.find(({ from, until }) => from <= at && at < until);
  if (!stretch) {
    stretch = stretchAround(at, timeZone);
    known.push(stretch);
  }
  return stretch;
}

function stretchAround(at: number, timeZone: string): Stretch {
  const there = Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(timeZone);
  // A change at this very instant is not before it.
  const before = there.add({ nanoseconds: 1 }).getTimeZoneTransition('previous');
  const after = there.getTimeZoneTransition('next');
  return {
    from: before?.epochMilliseconds ?? Number.NEGATIVE_INFINITY,
    until: after?.epochMilliseconds ?? Number.POSITIVE_INFINITY,
    offset: there.offsetNanoseconds / 1_000_000,
    text: there.toString({ timeZoneName: 'never', smallestUnit: 'second' }).slice(-'+00:00'.length),
  };
}
