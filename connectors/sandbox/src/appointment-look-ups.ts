import type { Appointment, CareUnit } from '@crossward/connector-kit';

/** Finds appointments of one care unit, in any order. */
type Find = (careUnitId: string, ids: readonly string[]) => Promise<readonly Appointment[]>;

interface Batch {
  readonly ids: Set<string>;
  readonly found: Promise<ReadonlyMap<string, Appointment>>;
}

/** A batch with more ids takes no further look-up. */
const mostIds = 500;

/**
 * Combines look-ups of one care unit that arrive in the same turn of the event loop into one statement. It is sent after
 * all of them have arrived, so each of them sees every write that was done before it.
 */
export function batchedLookUps(find: Find): (careUnit: CareUnit, ids: readonly string[]) => Promise<Appointment[]> {
  const batches = new Map<string, Batch>();

  function begin(careUnitId: string): Batch {
    const ids = new Set<string>();
    const found = new Promise<void>((resolve) => void setImmediate(resolve)).then(async () => {
      if (batches.get(careUnitId) === batch) batches.delete(careUnitId);
      const appointments = await find(careUnitId, [...ids]);
      return new Map(appointments.map((it) => [it.id, it]));
    });
    const batch = { ids, found };
    batches.set(careUnitId, batch);
    return batch;
  }

  return async ({ id: careUnitId }, ids) => {
    if (ids.length === 0) return [];
    const open = batches.get(careUnitId);
    const batch = open && open.ids.size < mostIds ? open : begin(careUnitId);
    for (const id of ids) batch.ids.add(id);
    const found = await batch.found;
    return [...new Set(ids)].flatMap((id) => found.get(id) ?? []);
  };
}
