import type { TimeSlot } from '@crossward/connector-kit';
import { grouped } from '@crossward/connector-kit/database';
import { type Kysely, sql } from 'kysely';
import { takenState } from './appointment-state.ts';
import { type SandboxTables, statement } from './tables.ts';

interface Search {
  readonly resourceIds: readonly string[];
  readonly start: Date;
  readonly end: Date;
  readonly freeing: readonly string[];
}

/** The resource, and milliseconds since 1970: faster to read than dates. */
type TakenTime = readonly [resourceId: string, start: number, end: number];

interface Row {
  readonly version: number;
  readonly now: Date;
  /** Those of each resource are in order. `null`: there are none. */
  readonly taken: readonly TakenTime[] | null;
}

interface Searches {
  readonly emr: string;
  /** As JSON text, with their places. */
  readonly searches: string;
}

/** A row for each search. No appointment is longer than a day (a table constraint), so the index scan starts one day earlier. */
const selectTaken = statement(
  (_db, { emr, searches }: Searches) => sql<Row>`
    SELECT current.version, clock_timestamp() AS now, of_search.taken
    FROM json_to_recordset(${searches}::json) AS search (
      place int, "resourceIds" text[], start timestamptz, "end" timestamptz, freeing text[])
    CROSS JOIN (
      SELECT coalesce((SELECT version FROM sandbox.schedule_versions WHERE emr = ${emr}), 0) AS version) AS current
    CROSS JOIN LATERAL (
      SELECT json_agg(json_build_array(taken.resource_id, (extract(epoch FROM taken.starts_at) * 1000)::float8,
        (extract(epoch FROM taken.ends_at) * 1000)::float8) ORDER BY taken.resource_id, taken.starts_at) AS taken
      FROM sandbox.appointments AS taken
      WHERE taken.emr = ${emr} AND taken.resource_id = ANY(search."resourceIds")
        AND taken.starts_at > search.start - interval '24 hours' AND taken.starts_at < search."end"
        AND taken.ends_at > search.start AND ${takenState} AND taken.id <> ALL(search.freeing)) AS of_search
    ORDER BY search.place`,
);

interface SearchIn extends Search {
  readonly emr: string;
}

/** Searches that run at the same time share a statement. */
const selectInGroup = grouped({
  async run(db: Kysely<SandboxTables>, inputs: readonly SearchIn[]) {
    const searches = JSON.stringify(inputs.map(({ emr: _, ...search }, place) => ({ place, ...search })));
    const { rows } = await selectTaken(db, { emr: inputs[0]?.emr ?? '', searches });
    return rows;
  },
  isOfOneInput: () => false,
});

interface TakenTimes {
  /** The version of the schedules. */
  readonly version: number;
  /** The time by the database's clock, in milliseconds. */
  readonly now: number;
  /** Whether the slot is free. Must be called in the order of the slots' starts. */
  isFree(slot: TimeSlot): boolean;
}

/** Reads the taken times of the slots' resources, and the version of the schedules at that moment. */
export async function readTakenTimes(
  db: Kysely<SandboxTables>,
  emr: string,
  slots: readonly TimeSlot[],
  freeing: readonly string[],
): Promise<TakenTimes> {
  const start = slots[0]?.start ?? new Date(0);
  const end = new Date(slots.reduce((latest, slot) => Math.max(latest, slot.end.getTime()), start.getTime()));
  const resourceIds = [...new Set(slots.map(({ resourceId }) => resourceId))];
  const { version, now, taken } = await selectInGroup(db, { emr, resourceIds, start, end, freeing });
  const times = Map.groupBy(taken ?? [], ([resourceId]) => resourceId);
  const passed = new Map<string, number>();
  return {
    version,
    now: now.getTime(),
    isFree(slot) {
      const ofResource = times.get(slot.resourceId);
      if (!ofResource) return true;
      let index = passed.get(slot.resourceId) ?? 0;
      while (endOf(ofResource[index]) <= slot.start.getTime()) index++;
      passed.set(slot.resourceId, index);
      const next = ofResource[index];
      return next === undefined || next[1] >= slot.end.getTime();
    },
  };
}

/** Of none: never. */
function endOf(time: TakenTime | undefined): number {
  return time?.[2] ?? Number.POSITIVE_INFINITY;
}
