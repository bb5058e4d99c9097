import { coversWithoutGap, type TimeSlot } from '@crossward/connector-kit';
import type { CareUnitConnection, EhrConnection } from '../ehr/connection.ts';

interface WantedTime {
  readonly resourceId: string;
  readonly healthcareServiceId: string;
  readonly start: Date;
  readonly end: Date;
}

/** More than a day of the shortest slots that make sense. */
const mostSlots = 1500;
/** As long as callers may ask for time slots. */
const longestRangeMilliseconds = 92 * 24 * 60 * 60 * 1000;

/** The resource's slots of a service inside a range, counting the time of `freeing` as free. */
export function freeSlots(
  ehr: Pick<EhrConnection, 'call'>,
  careUnit: CareUnitConnection,
  { resourceId, healthcareServiceId, start, end }: WantedTime,
  freeing: readonly string[] = [],
): Promise<readonly TimeSlot[]> {
  return ehr.call('listTimeSlots', {
    careUnit,
    start,
    end,
    resourceIds: [resourceId],
    healthcareServiceIds: [healthcareServiceId],
    freeing,
    limit: mostSlots,
  });
}

/**
 * Slots that tell which of these times are free, counting the time of `freeing` as free. One call for each resource and
 * service where the times lie close together; never more calls than times, and one after the other, so that a request for
 * many times takes one turn of the EHR.
 */
export async function freeSlotsFor(
  ehr: Pick<EhrConnection, 'call'>,
  careUnit: CareUnitConnection,
  wanted: readonly WantedTime[],
  freeing: readonly string[] = [],
): Promise<readonly TimeSlot[]> {
  const found: TimeSlot[] = [];
  for (const alike of Map.groupBy(wanted, ownerOf).values()) {
    let rest = alike.toSorted((a, b) => a.start.getTime() - b.start.getTime());
    for (let [first] = rest; first; [first] = rest) {
      const end = endOfRange(first, rest);
      const slots = await freeSlots(ehr, careUnit, { ...first, end }, freeing);
      found.push(...slots);
      // A full page has every slot that starts before its last one.
      const last = slots.length < mostSlots ? undefined : slots.at(-1);
      const seenUntil = last?.start ?? end;
      rest = rest.filter((time) => time !== first && time.end > seenUntil);
    }
  }
  return found;
}

function ownerOf({ resourceId, healthcareServiceId }: Pick<WantedTime, 'resourceId' | 'healthcareServiceId'>): string {
  return JSON.stringify([resourceId, healthcareServiceId]);
}

function endOfRange(first: WantedTime, times: readonly WantedTime[]): Date {
  const latest = first.start.getTime() + longestRangeMilliseconds;
  const ends = times.map(({ end }) => end.getTime()).filter((end) => end <= latest);
  return new Date(Math.max(first.end.getTime(), ...ends));
}

/** Whether a booking of each of these times would find it free. Nothing keeps it free afterwards. */
export async function areFree(
  ehr: Pick<EhrConnection, 'call'>,
  careUnit: CareUnitConnection,
  wanted: readonly WantedTime[],
  freeing: readonly string[] = [],
): Promise<boolean> {
  const slots = Map.groupBy(await freeSlotsFor(ehr, careUnit, wanted, freeing), ownerOf);
  return wanted.every((time) => coversWithoutGap(slots.get(ownerOf(time)) ?? [], time));
}

/** Whether a booking of this time would find it free. Nothing keeps it free afterwards. */
export function isFree(
  ehr: Pick<EhrConnection, 'call'>,
  careUnit: CareUnitConnection,
  wanted: WantedTime,
): Promise<boolean> {
  return areFree(ehr, careUnit, [wanted]);
}
