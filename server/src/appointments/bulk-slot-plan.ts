import { coversWithoutGap, overlaps } from '@crossward/connector-kit';
import type { TimeRange } from '../api/request-times.ts';

interface Wish extends TimeRange {
  readonly id: string;
  readonly healthcareServiceId: string;
  /** Whether it already has the target resource. Its own time then counts as free. */
  readonly standsOnTarget: boolean;
}

interface ServiceSlot extends TimeRange {
  readonly healthcareServiceId: string;
}

interface SameTimesRequest {
  /** In the order of the request's ids. */
  readonly appointments: readonly Wish[];
  /** Slots of the target resource that are free or taken by these appointments. */
  readonly slots: readonly ServiceSlot[];
}

/**
 * Plans a bulk update with a new resource. Each appointment keeps its time and needs it free at the target resource:
 * consecutive slots of its healthcare service must cover the time. If two appointments overlap, the later one in the
 * request is at fault. An appointment at fault takes no time from those after it.
 *
 * @returns every id at fault, in the order of the request
 */
export function planSameTimes({ appointments, slots }: SameTimesRequest): { faults: string[] } {
  const slotsByService = Map.groupBy(slots, (slot) => slot.healthcareServiceId);
  const placed: Wish[] = [];
  const faults: string[] = [];
  for (const desired of appointments) {
    const isFree =
      desired.standsOnTarget || coversWithoutGap(slotsByService.get(desired.healthcareServiceId) ?? [], desired);
    if (isFree && !placed.some((earlier) => overlaps(earlier, desired))) placed.push(desired);
    else faults.push(desired.id);
  }
  return { faults };
}
