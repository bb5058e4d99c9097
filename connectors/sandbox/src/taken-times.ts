import type { TimeSlot } from '@crossward/connector-kit';
import { type Kysely, sql } from 'kysely';
import { takenState } from './appointment-state.ts';
import { type SandboxTables, statement } from './tables.ts';

const dayMilliseconds = 24 * 60 * 60 * 1000;

interface Search {
  readonly emr: string;
  readonly resourceIds: readonly string[];
  readonly start: Date;
  readonly end: Date;
  /** No appointment is longer than a day (a table constraint), so the index scan can start one day earlier. */
  readonly dayBefore: Date;
  readonly freeing: readonly string[];
}

interface Row {
  readonly version: number;
  readonly now: Date;
  /** Null in the only row if no time is taken. */
  readonly resource_id: string | null;
  /** Milliseconds since 1970: faster to read than dates. */
  readonly starts_at: number;
  readonly ends_at: number;
}

/** One row at least. The taken times of each resource are in order. */
const selectTaken = statement(
  (_db, { emr, resourceIds, start, end, dayBefore, freeing }: Search) => sql<Row>`
    SELECT current.version, clock_timestamp() AS now, taken.resource_id,
      (extract(epoch FROM taken.starts_at) * 1000)::float8 AS starts_at,
      (extract(epoch FROM taken.ends_at) * 1000)::float8 AS ends_at
    FROM (SELECT coalesce((SELECT version FROM sandbox.schedule_versions WHERE emr = ${emr}), 0) AS version) AS current
    LEFT JOIN sandbox.appointments AS taken
      ON taken.emr = ${emr} AND taken.resource_id = ANY(${resourceIds}::text[])
        AND taken.starts_at > ${dayBefore} AND taken.starts_at < ${end} AND taken.ends_at > ${start}
        AND ${takenState} AND taken.id <> ALL(${freeing}::text[])
    ORDER BY taken.resource_id, taken.starts_at`,
);

interface TakenTimes {
  /** The version of the schedules. */
  readonly version: number;
  /** The time by the database's clock, in milliseconds. */
  readonly now: number;
  /** Whether the slot is free. Must be called in the order of the slots' starts. */
  isFree(slot: TimeSlot): boolean;
}

/** Reads the taken times of the slots' resources, and the version of the schedules at that moment, in one statement. */
export async function readTakenTimes(
  db: Kysely<SandboxTables>,
  emr: string,
  slots: readonly TimeSlot[],
  freeing: readonly string[],
): Promise<TakenTimes> {
  const start = slots[0]?.start ?? new Date(0);
  const end = slots.reduce((latest, slot) => (slot.end > latest ? slot.end : latest), start);
  const resourceIds = [...new Set(slots.map(({ resourceId }) => resourceId))];
  const dayBefore = new Date(start.getTime() - dayMilliseconds);
  const { rows } = await selectTaken(db, { emr, resourceIds, start, end, dayBefore, freeing });
  const [first] = rows;
  if (!first) throw new Error('The statement returned no row');
  const times = Map.groupBy(rows, (row) => row.resource_id);
  const passed = new Map<string, number>();
  return {
    version: first.version,
    now: first.now.getTime(),
    isFree(slot) {
      const taken = times.get(slot.resourceId);
      if (!taken) return true;
      let index = passed.get(slot.resourceId) ?? 0;
      while ((taken[index]?.ends_at ?? Number.POSITIVE_INFINITY) <= slot.start.getTime()) index++;
      passed.set(slot.resourceId, index);
      const next = taken[index];
      return next === undefined || next.starts_at >= slot.end.getTime();
    },
  };
}
