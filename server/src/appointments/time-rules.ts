import { type Place, Problem } from '../problems/problem.ts';
import { formatInstant } from '../time/date-times.ts';
import type { TimeRange } from '../time/request-times.ts';

/** No appointment is longer; connectors may rely on it when they search. */
export const longestAppointmentHours = 24;

interface Wanted extends TimeRange {
  readonly resourceId: string;
  readonly timeZone: string;
}

/** Runs a write, and says of a time that is not free which time it was and where it was asked for. */
export async function whereTheTimeIs<Result>(
  wanted: Wanted,
  place: Place,
  write: () => Promise<Result>,
): Promise<Result> {
  try {
    return await write();
  } catch (error) {
    if (!(error instanceof Problem) || error.reason !== 'time_slot_unavailable') throw error;
    const { resourceId, start, end, timeZone } = wanted;
    const range = `from ${formatInstant(start, timeZone)} to ${formatInstant(end, timeZone)}`;
    const detail = `No free time slot with resource ${resourceId} ${range}.`;
    throw new Problem('time_slot_unavailable', {
      detail,
      faults: [{ place, reason: 'time_slot_unavailable', detail }],
      cause: error.cause,
    });
  }
}
