import type { FhirSlot } from '../fhir.ts';
import { slotTime } from '../mappers/slot.ts';

interface TimeRange {
  readonly start: Date;
  readonly end: Date;
}

/**
 * Finds the fewest slots that cover the range exactly: without a gap, and without going beyond it. `null`: there are
 * none.
 */
export function slotPath(slots: readonly FhirSlot[], { start, end }: TimeRange): readonly FhirSlot[] | null {
  let paths: { readonly at: number; readonly slots: readonly FhirSlot[] }[] = [{ at: start.getTime(), slots: [] }];
  const reached = new Set([start.getTime()]);
  while (paths.length > 0) {
    const longer: typeof paths = [];
    for (const path of paths) {
      for (const slot of slots) {
        const time = slotTime(slot);
        if (time?.start.getTime() !== path.at || time.end > end) continue;
        const steps = [...path.slots, slot];
        if (time.end.getTime() === end.getTime()) return steps;
        if (reached.has(time.end.getTime())) continue;
        reached.add(time.end.getTime());
        longer.push({ at: time.end.getTime(), slots: steps });
      }
    }
    paths = longer;
  }
  return null;
}
