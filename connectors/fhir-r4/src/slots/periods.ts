import type { FhirAppointment } from '../fhir.ts';
import type { SearchParameters } from '../server/client.ts';
import type { FhirSettings } from '../settings.ts';

/** Slots that a search is for: those that start in `[start, before)`. */
export interface SlotSearch {
  readonly start: Date;
  readonly before: Date;
  /** `undefined`: any status. */
  readonly statuses: string | undefined;
  readonly services?: readonly string[] | undefined;
  /** Given the Appointments that name the slots, if the server returns them in the same search. */
  readonly withAppointments?: ((appointments: readonly FhirAppointment[]) => void) | undefined;
  /** Whether few slots are expected: those of one appointment. */
  readonly few?: boolean;
  /** The id of the Appointment that is to be moved there. */
  readonly moved?: string | undefined;
}

/**
 * The bounds of searches that together find every Slot of a time, and maybe some of the second before it. Each search spans
 * the longest time at most that the server takes. A search has two bounds, because a bare date means a whole day on some
 * servers and nothing on others.
 */
export function periods(
  { start, before }: Pick<SlotSearch, 'start' | 'before'>,
  { slots = {} }: FhirSettings,
): SearchParameters[] {
  const { longest_hours = Number.POSITIVE_INFINITY, lower_bound = 'ge' } = slots;
  // `gt` leaves out what starts at the bound.
  const lead = lower_bound === 'gt' ? 1000 : 0;
  const found: SearchParameters[] = [];
  let from = start.getTime();
  do {
    const lower = from - lead;
    const until = Math.min(lower + longest_hours * 60 * 60 * 1000, before.getTime());
    found.push([
      ['start', `${lower_bound}${new Date(lower).toISOString()}`],
      ['start', `lt${new Date(until).toISOString()}`],
    ]);
    from = until;
  } while (from < before.getTime());
  return found;
}
