import { coversWithoutGap, overlaps } from '@crossward/connector-kit';
import type { TimeRange } from '../api/request-times.ts';

interface Wish extends TimeRange {
  readonly id: string;
  readonly healthcareServiceId: string;
  /** Whether it is with the target resource already: then its own time counts as free. */
  readonly standsOnTarget: boolean;
}

interface ServiceSlot extends TimeRange {
  readonly healthcareServiceId: string;
}

interface SameTimesRequest {
  /** In the order of the request's ids. */
  readonly appointments: readonly Wish[];
  /** The target resource's slots that are free or held by the appointments themselves. */
  readonly slots: readonly ServiceSlot[];
}

/**
 * The pure bulk update with a new resource: each appointment wants its own current time with the target resource, and
 * slots of its healthcare service must cover that time without a gap. Of two that want overlapping time the later in
 * the request is at fault. One at fault takes no time from those after it.
 *
 * @returns every id at fault, in the order of the request
 */
export function planSameTimes({ appointments, slots }: SameTimesRequest): { faults: string[] } {
  const slotsByService = Map.groupBy(slots, (slot) => slot.healthcareServiceId);
  const placed: Wish[] = [];
  const faults: string[] = [];
  for (const wish of appointments) {
    const isFree = wish.standsOnTarget || coversWithoutGap(slotsByService.get(wish.healthcareServiceId) ?? [], wish);
    if (isFree && !placed.some((earlier) => overlaps(earlier, wish))) placed.push(wish);
    else faults.push(wish.id);
  }
  return { faults };
}
