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
  return batched(find, mostIds, ({ id }) => id);
}

/** Like `batchedLookUps`, for an EHR whose ids tell care units apart: look-ups of all its care units are one call. */
export function batchedAcrossCareUnits(
  find: (ids: readonly string[]) => Promise<readonly Appointment[]>,
  mostIds: number,
): Find {
  const findAny = batched(
    (_, ids) => find(ids),
    mostIds,
    () => '',
  );
  return async (careUnit, ids) => (await findAny(careUnit, ids)).filter(({ careUnitId }) => careUnitId === careUnit.id);
}

/** @param batchOf look-ups of which care units share a call */
function batched(find: Find, mostIds: number, batchOf: (careUnit: CareUnit) => string): Find {
  const batches = new Map<string, Batch>();

  function begin(careUnit: CareUnit): Batch {
    const ids = new Set<string>();
    const found = new Promise<void>((resolve) => void setImmediate(resolve)).then(async () => {
      if (batches.get(batchOf(careUnit)) === batch) batches.delete(batchOf(careUnit));
      const appointments = await find(careUnit, [...ids]);
      return new Map(appointments.map((it) => [it.id, it]));
    });
    const batch: Batch = { ids, lookUps: 0, found };
    batches.set(batchOf(careUnit), batch);
    return batch;
  }

  return async (careUnit, ids) => {
    if (ids.length === 0) return [];
    const open = batches.get(batchOf(careUnit));
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
