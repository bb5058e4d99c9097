import { coversWithoutGap, type TimeSlot } from '@crossward/connector-kit';
import type { CareUnitConnection, EhrConnection } from '../ehr/connection.ts';

interface RequestedTime {
  readonly patientId?: string;
  readonly resourceId: string;
  readonly healthcareServiceId: string;
  readonly start: Date;
  readonly end: Date;
}

type AskedEhr = Pick<EhrConnection, 'call' | 'capabilities'>;

/** Limit of one call: more than the slots of one day, however short they are. */
const mostSlots = 1500;
/** The longest range that callers may request for time slots. */
const longestRangeMilliseconds = 92 * 24 * 60 * 60 * 1000;

/**
 * Free slots of a resource and service in a range, for the patient if the EHR can search so. The times of the appointments
 * `freeing` count as free; one alone is the one to move.
 */
export function freeSlots(
  ehr: AskedEhr,
  careUnit: CareUnitConnection,
  { patientId, resourceId, healthcareServiceId, start, end }: RequestedTime,
  freeing: readonly string[] = [],
): Promise<readonly TimeSlot[]> {
  return ehr.call('listTimeSlots', {
    careUnit,
    start,
    end,
    resourceIds: [resourceId],
    healthcareServiceIds: [healthcareServiceId],
    freeing,
    ...(ehr.capabilities.slotsByPatient && { patientId }),
    ...(freeing.length === 1 && { forAppointment: freeing[0] }),
    limit: mostSlots,
  });
}

/**
 * Free slots around the wanted times. The times of the appointments `freeing` count as free. Times that are close together
 * share one call for each resource and service (and patient, if the EHR searches so), so there are never more calls than times. The calls run in sequence, so
 * that one request occupies one of the EHR's concurrent calls.
 */
export async function freeSlotsFor(
  ehr: AskedEhr,
  careUnit: CareUnitConnection,
  requested: readonly RequestedTime[],
  freeing: readonly string[] = [],
): Promise<readonly TimeSlot[]> {
  const { slotsByPatient } = ehr.capabilities;
  const searchedWith = (time: RequestedTime) => JSON.stringify([ownerOf(time), slotsByPatient && time.patientId]);
  const found: TimeSlot[] = [];
  for (const alike of Map.groupBy(requested, searchedWith).values()) {
    let rest = alike.toSorted((a, b) => a.start.getTime() - b.start.getTime());
    for (let [first] = rest; first; [first] = rest) {
      const end = endOfRange(first, rest);
      const slots = await freeSlots(ehr, careUnit, { ...first, end }, freeing);
      found.push(...slots);
      // A full page contains every slot that starts before its last slot.
      const last = slots.length < mostSlots ? undefined : slots.at(-1);
      const seenUntil = last?.start ?? end;
      rest = rest.filter((time) => time !== first && time.end > seenUntil);
    }
  }
  return found;
}

function ownerOf({
  resourceId,
  healthcareServiceId,
}: Pick<RequestedTime, 'resourceId' | 'healthcareServiceId'>): string {
  return JSON.stringify([resourceId, healthcareServiceId]);
}

function endOfRange(first: RequestedTime, times: readonly RequestedTime[]): Date {
  const latest = first.start.getTime() + longestRangeMilliseconds;
  const ends = times.map(({ end }) => end.getTime()).filter((end) => end <= latest);
  return new Date(Math.max(first.end.getTime(), ...ends));
}

/** Whether all of these times are free now. Does not reserve them. */
export async function areFree(
  ehr: AskedEhr,
  careUnit: CareUnitConnection,
  requested: readonly RequestedTime[],
  freeing: readonly string[] = [],
): Promise<boolean> {
  const slots = Map.groupBy(await freeSlotsFor(ehr, careUnit, requested, freeing), ownerOf);
  return requested.every((time) => coversWithoutGap(slots.get(ownerOf(time)) ?? [], time));
}

/** Whether this time is free now. Does not reserve it. */
export function isFree(ehr: AskedEhr, careUnit: CareUnitConnection, requested: RequestedTime): Promise<boolean> {
  return areFree(ehr, careUnit, [requested]);
}
