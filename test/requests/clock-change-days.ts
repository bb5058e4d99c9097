import { Temporal } from 'temporal-polyfill';

export const timeZones = ['Europe/Oslo', 'Europe/Stockholm', 'Europe/London'] as const;

interface ClockChange {
  /** The first instant with the new offset. */
  readonly instant: Temporal.Instant;
  readonly date: Temporal.PlainDate;
  readonly offsetBefore: string;
  readonly offsetAfter: string;
  /** Local times from the first up to the second are skipped in spring and repeated in autumn. */
  readonly from: Temporal.PlainTime;
  readonly until: Temporal.PlainTime;
}

/** The next day, at least a week from now, on which the clock is set forward (spring) or back (autumn). */
export function nextClockChange(timeZone: string, season: 'spring' | 'autumn'): ClockChange {
  let zoned = Temporal.Now.zonedDateTimeISO(timeZone).add({ days: 7 });
  for (;;) {
    const next = zoned.getTimeZoneTransition('next');
    if (!next) throw new Error(`${timeZone} has no more clock changes`);
    const before = next.subtract({ nanoseconds: 1 });
    const gained = next.offsetNanoseconds - before.offsetNanoseconds;
    if (gained > 0 === (season === 'spring')) {
      const wallBefore = next.toInstant().toZonedDateTimeISO(before.offset).toPlainTime();
      const [from, until] = [wallBefore, next.toPlainTime()].sort(Temporal.PlainTime.compare) as [
        Temporal.PlainTime,
        Temporal.PlainTime,
      ];
      return {
        instant: next.toInstant(),
        date: next.toPlainDate(),
        offsetBefore: before.offset,
        offsetAfter: next.offset,
        from,
        until,
      };
    }
    zoned = next;
  }
}
