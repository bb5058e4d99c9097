import type { ClockChange } from '@crossward/connector-kit/conformance';
import { Temporal } from 'temporal-polyfill';
import { UsageError } from './exit-codes.ts';

interface ClockChangeDefaults {
  /** Of the care unit, from the IANA database. */
  readonly timeZone: string;
  /** `undefined`: `--clock-change` must name it. */
  readonly resourceId: string | undefined;
  /** `undefined`: `--clock-change` must name it. */
  readonly healthcareServiceId: string | undefined;
  /** `--clock-change-slots` */
  readonly slots: string | undefined;
}

interface SlotTimes {
  readonly from: Temporal.PlainTime;
  readonly until: Temporal.PlainTime;
  readonly minutes: number;
}

export const defaultClockChangeSlots = '00:00-06:00/30';

/**
 * Parses `--clock-change`: `<date>` or `<date>:<resource>:<service>`. The slots follow each other in elapsed time, so the
 * night in spring has fewer than other nights and the night in autumn has more.
 *
 * @throws UsageError if the text is invalid, or the clock does not change on that date
 */
export function parseClockChange(text: string, defaults: ClockChangeDefaults): ClockChange {
  const [, day, ownResource, ownService] = /^(\d{4}-\d\d-\d\d)(?::(.+):([^:]+))?$/.exec(text) ?? [];
  const date = day === undefined ? undefined : valid(() => Temporal.PlainDate.from(day));
  if (!date) throw new UsageError(`Invalid --clock-change: ${text}. Use <date> or <date>:<resource>:<service>.`);
  const resourceId = ownResource ?? defaults.resourceId;
  const healthcareServiceId = ownService ?? defaults.healthcareServiceId;
  if (resourceId === undefined || healthcareServiceId === undefined) {
    throw new UsageError(
      '--clock-change needs an emr_id in --resource and a --service. Or use <date>:<resource>:<service>.',
    );
  }
  const { timeZone } = defaults;
  const { from, until, minutes } = slotTimes(defaults.slots ?? defaultClockChangeSlots);
  const at = clockChangeOn(date, timeZone);
  const [start, end] = [from, until].map(
    (plainTime) => date.toZonedDateTime({ timeZone, plainTime }).epochMilliseconds,
  );
  if (start === undefined || end === undefined) throw new Error('The slots have no start or end');
  const step = minutes * 60_000;
  return {
    name: `the night of ${date}`,
    resourceId,
    healthcareServiceId,
    start: new Date(start),
    end: new Date(end),
    at,
    slotStarts: Array.from({ length: Math.floor((end - start) / step) }, (_, index) => new Date(start + index * step)),
  };
}

function clockChangeOn(date: Temporal.PlainDate, timeZone: string): Date {
  const midnight = date.toZonedDateTime({ timeZone });
  const next = midnight.subtract({ nanoseconds: 1 }).getTimeZoneTransition('next');
  if (!next?.toPlainDate().equals(date)) {
    const hint = next ? ` The next change is on ${next.toPlainDate()}.` : '';
    throw new UsageError(`The clock does not change in ${timeZone} on ${date}.${hint}`);
  }
  if (next.epochMilliseconds < Date.now()) throw new UsageError(`--clock-change: ${date} is over. Use a later date.`);
  return new Date(next.epochMilliseconds);
}

function slotTimes(text: string): SlotTimes {
  const [, from = '', until = '', minutes] = /^(\d\d:\d\d)-(\d\d:\d\d)\/(\d+)$/.exec(text) ?? [];
  const times = valid(() => ({
    from: Temporal.PlainTime.from(from),
    until: Temporal.PlainTime.from(until),
    minutes: Number(minutes),
  }));
  if (times && times.minutes > 0 && Temporal.PlainTime.compare(times.from, times.until) < 0) return times;
  throw new UsageError(`Invalid --clock-change-slots: ${text}. Use local times such as ${defaultClockChangeSlots}.`);
}

/** `undefined` if Temporal rejects the value. */
function valid<Result>(parse: () => Result): Result | undefined {
  try {
    return parse();
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}
