import { setTimeout as sleep } from 'node:timers/promises';
import { compareKeys } from './order.ts';

/** How often the first of several bookings looks whether the others have left. */
const looks = 4;
const pauseMilliseconds = 500;

interface Look<Booking> {
  /** Reads the bookings that take a place at the same time. The new one may be among them. */
  read(): Promise<readonly Booking[]>;
  /** The order in which the EHR has made them, such as the time of creation, then the id. It ends with the id. */
  keyOf(booking: Booking): readonly (string | number)[];
  /** How many the time has room for. */
  readonly places: number;
}

/**
 * Looks after a booking whether the time had room for it: for an EHR that does not itself refuse the second of two bookings. Staff
 * take no turns, and a turn can be lost while a request is on its way. If not, the connector withdraws the booking.
 *
 * Of several bookings, all but the first leave at once. The first stays if the others leave, too: whoever has booked it may
 * have looked before the first one was to be seen, or never looks.
 *
 * Call it when the turn is over: what comes afterwards must not depend on having it.
 */
export async function standsAlone<Booking>(made: Booking, { read, keyOf, places }: Look<Booking>): Promise<boolean> {
  const own = keyOf(made);
  for (let look = 1; ; look++) {
    const others = (await read()).map(keyOf).filter((it) => it.at(-1) !== own.at(-1));
    if (others.length < places) return true;
    const earlier = others.filter((it) => compareKeys(it, own) < 0);
    if (earlier.length >= places || look === looks) return false;
    await sleep(pauseMilliseconds);
  }
}

/**
 * Whether the time had no room when a booking was made: for a recovery, which finds it late. What staff have booked over it since
 * is theirs to decide.
 */
export async function cameTooLate<Booking>(made: Booking, { read, keyOf, places }: Look<Booking>): Promise<boolean> {
  const own = keyOf(made);
  const earlier = (await read()).map(keyOf).filter((it) => it.at(-1) !== own.at(-1) && compareKeys(it, own) < 0);
  return earlier.length >= places;
}
