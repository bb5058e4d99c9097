import { ConnectorError, type ConnectorErrorKind } from './errors.ts';
import type { Appointment, CareUnit } from './records.ts';

/** Finds appointments of a care unit, in any order. */
type Find = (careUnit: CareUnit, ids: readonly string[]) => Promise<readonly Appointment[]>;

interface Batch {
  readonly ids: Set<string>;
  lookUps: number;
  readonly found: Promise<ReadonlyMap<string, Appointment>>;
}

/** After these errors, each look-up on its own would fail too. */
const outages: readonly ConnectorErrorKind[] = ['unavailable', 'timeout', 'connection_closed'];

/**
 * Combines look-ups of one care unit that arrive in the same turn of the event loop into one call of `find`. The call is
 * made after all of them have arrived, so each of them sees every write that was done before it. If the EHR rejects the
 * call, each look-up is made on its own: the reason may concern one of them.
 *
 * @param mostIds a call with this many ids takes no further look-up
 */
export function batchedLookUps(find: Find, mostIds: number): Find {
  const batches = new Map<string, Batch>();

  function begin(careUnit: CareUnit): Batch {
    const ids = new Set<string>();
    const found = new Promise<void>((resolve) => void setImmediate(resolve)).then(async () => {
      if (batches.get(careUnit.id) === batch) batches.delete(careUnit.id);
      const appointments = await find(careUnit, [...ids]);
      return new Map(appointments.map((it) => [it.id, it]));
    });
    const batch: Batch = { ids, lookUps: 0, found };
    batches.set(careUnit.id, batch);
    return batch;
  }

  return async (careUnit, ids) => {
    if (ids.length === 0) return [];
    const open = batches.get(careUnit.id);
    const batch = open && open.ids.size < mostIds ? open : begin(careUnit);
    batch.lookUps++;
    for (const id of ids) batch.ids.add(id);
    try {
      const found = await batch.found;
      return [...new Set(ids)].flatMap((id) => found.get(id) ?? []);
    } catch (error) {
      if (batch.lookUps === 1 || (error instanceof ConnectorError && outages.includes(error.kind))) throw error;
      return find(careUnit, ids);
    }
  };
}
