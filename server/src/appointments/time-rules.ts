import type { TimeRange } from '../api/request-times.ts';
import { publicDetailOf } from '../ehr/connector-problems.ts';
import { type Fault, type Place, Problem } from '../problems/problem.ts';
import { formatInstant } from '../time/date-times.ts';

/** The longest appointment. Connectors may rely on it when they search. */
export const longestAppointmentHours = 24;
/** The longest range of a continuous reschedule. */
export const longestRescheduleHours = 31 * 24;

interface Requested extends TimeRange {
  readonly resourceId: string;
}

/** A fault that says which time is not free. The resource id is the EHR's, whatever identifier the request used. */
export function slotFault(requested: Requested, timeZone: string, place: Place | undefined, id?: string): Fault {
  const range = `from ${formatInstant(requested.start, timeZone)} to ${formatInstant(requested.end, timeZone)}`;
  return {
    place,
    ...(id === undefined ? {} : { id }),
    reason: 'time_slot_unavailable',
    detail: `No free time slot with resource ${requested.resourceId} ${range}.`,
  };
}

/** Reports each fault of the steps once. What the EHR says to the person comes first. */
export function timesTaken(steps: readonly { readonly faultIfTaken?: Fault }[], cause?: unknown): Problem {
  const faults = steps.flatMap(({ faultIfTaken }) => faultIfTaken ?? []);
  const reported = [...new Map(faults.map((fault) => [JSON.stringify(fault), fault])).values()];
  const detail = publicDetailOf(cause) ?? reported[0]?.detail;
  return new Problem('time_slot_unavailable', { detail, faults: reported, cause });
}
