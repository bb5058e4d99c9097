import type { EhrResponse } from '@crossward/connector-kit';

/**
 * The EHR's clock, as the `Date` of its responses shows it. Holds and claims use this clock, so that gateways whose
 * clocks differ agree on when they expire. The gateway's clock is `now` of the connector's context. Whether a time slot has
 * started is a time of day, for which that of the machine is good enough.
 */
export interface EhrClock {
  /**
   * How many milliseconds it is ahead of the gateway's clock, to a second or two. `undefined`: no response has shown it
   * yet.
   */
  ahead(): number | undefined;
  now(): Date;
  /** Converts a time of the gateway's clock to the EHR's clock. */
  toEhr(moment: Date): Date;
  /** Converts a time of the EHR's clock to the gateway's clock. */
  fromEhr(moment: Date): Date;
}

export interface ObservedClock extends EhrClock {
  /** The time by the gateway's clock, in milliseconds. */
  gatewayNow(): number;
  /** Learns from a response. `sentAt` and `receivedAt` are in milliseconds of the gateway's clock. */
  observe(response: Pick<EhrResponse, 'status' | 'headers'>, sentAt: number, receivedAt: number): void;
}

/** The range of milliseconds by which the EHR's clock may be ahead of the gateway's. */
interface Bounds {
  readonly least: number;
  readonly most: number;
}

/** A clock that equals the gateway's until a response contradicts that. `gateway`: the gateway's clock. */
export function createClock(gateway: () => Date): ObservedClock {
  let bounds: Bounds | undefined;
  const offset = () => (bounds ? offsetWithin(bounds) : 0);
  return {
    ahead: () => bounds && offsetWithin(bounds),
    now: () => new Date(gateway().getTime() + offset()),
    gatewayNow: () => gateway().getTime(),
    toEhr: (moment) => new Date(moment.getTime() + offset()),
    fromEhr: (moment) => new Date(moment.getTime() - offset()),
    observe(response, sentAt, receivedAt) {
      const seen = boundsOf(response, sentAt, receivedAt);
      if (!seen) return;
      const least = Math.max(seen.least, bounds?.least ?? seen.least);
      const most = Math.min(seen.most, bounds?.most ?? seen.most);
      // A contradiction to all earlier responses means that one of the clocks was set.
      bounds = least < most ? { least, most } : seen;
    },
  };
}

/** `Date` has whole seconds (https://www.rfc-editor.org/rfc/rfc9110#section-6.6.1), and many servers update it once a second. */
function boundsOf(
  { status, headers }: Pick<EhrResponse, 'status' | 'headers'>,
  sentAt: number,
  receivedAt: number,
): Bounds | undefined {
  const date = Date.parse(headers.date ?? '');
  // A 5xx may come from a proxy, and a cached response has the time at which it was stored.
  const isFromElsewhere = status >= 500 || headers.age !== undefined;
  if (Number.isNaN(date) || isFromElsewhere) return undefined;
  return { least: date - receivedAt, most: date + 2 * 1000 - sentAt };
}

/** Zero while the clocks may be equal. Otherwise whole seconds, so that a time that is written reads back the same. */
function offsetWithin({ least, most }: Bounds): number {
  if (least <= 0 && most >= 0) return 0;
  return Math.round((least + most) / 2000) * 1000;
}
