import type { EhrResponse } from '@crossward/connector-kit';

/**
 * The EHR's clock, as the `Date` of its answers shows it. What the EHR keeps until a moment – holds and claims – is
 * written and compared by it, so that gateways whose clocks differ agree. When a time slot begins is a time of day, not
 * a stamp of the EHR's, and goes by our own clock.
 */
export interface EhrClock {
  /** By how many milliseconds it is ahead of ours, to a second or two. `undefined`: no answer has shown it. */
  ahead(): number | undefined;
  now(): Date;
  /** A moment by our clock, as the EHR's clock will show it. */
  toEhr(moment: Date): Date;
  /** A moment by the EHR's clock, as ours will show it. */
  fromEhr(moment: Date): Date;
}

export interface ObservedClock extends EhrClock {
  /** Learns from an answer to a request that was sent and answered at these moments, in milliseconds by our clock. */
  observe(response: Pick<EhrResponse, 'status' | 'headers'>, sentAt: number, receivedAt: number): void;
}

/** By how many milliseconds the EHR's clock may be ahead of ours. */
interface Bounds {
  readonly least: number;
  readonly most: number;
}

/** In step with ours until an answer has ruled that out. */
export function createClock(): ObservedClock {
  let bounds: Bounds | undefined;
  const offset = () => (bounds ? offsetWithin(bounds) : 0);
  return {
    ahead: () => bounds && offsetWithin(bounds),
    now: () => new Date(Date.now() + offset()),
    toEhr: (moment) => new Date(moment.getTime() + offset()),
    fromEhr: (moment) => new Date(moment.getTime() - offset()),
    observe(response, sentAt, receivedAt) {
      const seen = boundsOf(response, sentAt, receivedAt);
      if (!seen) return;
      const least = Math.max(seen.least, bounds?.least ?? seen.least);
      const most = Math.min(seen.most, bounds?.most ?? seen.most);
      // What contradicts all that was seen before: one of the clocks has been set.
      bounds = least < most ? { least, most } : seen;
    },
  };
}

/** `Date` is in whole seconds (https://www.rfc-editor.org/rfc/rfc9110#section-6.6.1), and many servers make it once a second. */
function boundsOf(
  { status, headers }: Pick<EhrResponse, 'status' | 'headers'>,
  sentAt: number,
  receivedAt: number,
): Bounds | undefined {
  const date = Date.parse(headers.date ?? '');
  // A proxy answers for an EHR that is down, and a cache tells when it stored the answer.
  const isFromElsewhere = status >= 500 || headers.age !== undefined;
  if (Number.isNaN(date) || isFromElsewhere) return undefined;
  return { least: date - receivedAt, most: date + 2 * 1000 - sentAt };
}

/** None as long as the clocks may agree; else in whole seconds, so that a moment that is written is read back the same. */
function offsetWithin({ least, most }: Bounds): number {
  if (least <= 0 && most >= 0) return 0;
  return Math.round((least + most) / 2000) * 1000;
}
