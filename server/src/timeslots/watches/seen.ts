import { hash } from 'node:crypto';
import type { UnitSearch } from '../../slot-search/progress.ts';
import type { FoundSlot, FoundSlots } from '../../slot-search/search.ts';

/** What a watch has seen of a care unit when the EHR last answered. */
interface SeenUnit {
  /** Later slots were not looked at. Milliseconds since 1970. */
  readonly until: number;
  /** Hashes of slots. */
  readonly slots: readonly string[];
}

/** By EHR and care unit. Those that have not answered yet are missing. */
export type Seen = Readonly<Record<string, SeenUnit>>;

/**
 * Compares what a look has found with what was there before. A slot is new if its care unit had answered before, without it. Care
 * units that have not answered stay as they were.
 *
 * @param limit of the search: with more slots, only the first ones are known
 */
export function compareSeen(
  former: Seen,
  units: readonly UnitSearch[],
  { found, unanswered }: FoundSlots,
  limit: number,
): { readonly seen: Seen; readonly fresh: readonly FoundSlot[] } {
  const until = found[limit]?.slot[0] ?? Number.MAX_SAFE_INTEGER;
  const silent = new Set(unanswered.map(({ unit }) => keyOf(unit)));
  const known = found.filter(({ unit, slot }) => slot[0] < until && !silent.has(keyOf(unit)));
  const byUnit = Map.groupBy(known, ({ unit }) => keyOf(unit));
  const now: Seen = Object.fromEntries(
    units.map(keyOf).flatMap((key) => {
      const answered = { until, slots: (byUnit.get(key) ?? []).map(hashOf) };
      const its = silent.has(key) ? former[key] : answered;
      return its ? [[key, its]] : [];
    }),
  );
  const fresh = known.filter((it) => {
    const before = former[keyOf(it.unit)];
    return before !== undefined && it.slot[0] < before.until && !before.slots.includes(hashOf(it));
  });
  return { seen: now, fresh };
}

const keyOf = ({ ehr, careUnit }: Pick<UnitSearch, 'ehr' | 'careUnit'>) => JSON.stringify([ehr.id, careUnit.id]);

/** 48 bits. Among the slots of a care unit, two have the same with a probability of 10⁻⁹. */
function hashOf({ slot: [start, , resourceId, serviceId] }: Pick<FoundSlot, 'slot'>): string {
  return hash('sha256', JSON.stringify([start, resourceId, serviceId]), 'base64').slice(0, 8);
}
