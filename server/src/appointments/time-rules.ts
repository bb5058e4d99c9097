import type { TimeRange } from '../api/request-times.ts';
import { type Fault, type Place, Problem } from '../problems/problem.ts';
import { formatInstant } from '../time/date-times.ts';

/** No appointment is longer; connectors may rely on it when they search. */
export const longestAppointmentHours = 24;
/** A range of a hundred slots is no longer than this. */
export const longestRescheduleHours = 31 * 24;

interface Wanted extends TimeRange {
  readonly resourceId: string;
}

/** Says which time is not free. The resource's id is the EHR's own, whatever it was asked for by. */
export function slotFault(wanted: Wanted, timeZone: string, place: Place | undefined, id?: string): Fault {
  const range = `from ${formatInstant(wanted.start, timeZone)} to ${formatInstant(wanted.end, timeZone)}`;
  return {
    place,
    ...(id === undefined ? {} : { id }),
    reason: 'time_slot_unavailable',
    detail: `No free time slot with resource ${wanted.resourceId} ${range}.`,
  };
}

/** @param faults those that are there, each told once */
export function timeTaken(faults: readonly (Fault | undefined)[], cause?: unknown): Problem {
  const told = [...new Map(faults.flatMap((fault) => (fault ? [[JSON.stringify(fault), fault]] : []))).values()];
  return new Problem('time_slot_unavailable', { detail: told[0]?.detail, faults: told, cause });
}
