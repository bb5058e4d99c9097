import { sql } from 'kysely';
import type { Db } from '../db/kysely.ts';
import { noLatencies } from '../ehr/guard/call-history.ts';
import type { Column } from './columns.ts';
import { countHappenings, type Happening, happenings } from './happenings.ts';

/** What happened in a column, in all gateways. */
export type Counts = Readonly<Record<Happening, number>>;

/** What the processes of all gateways saw of an EHR in a column. */
export interface EhrColumn {
  /** Minutes in which a process ran. */
  readonly running: number;
  /** Minutes in which a process knew the state of the EHR. */
  readonly known: number;
  /** Minutes in which a process found it unavailable. */
  readonly unavailable: number;
  readonly calls: number;
  readonly failures: number;
  /** Served calls by class of latency. */
  readonly latencies: readonly number[];
}

const nothing: Counts = Object.fromEntries(happenings.map((kind) => [kind, 0])) as Record<Happening, number>;

/** Counts what happened in each column. Adjacent quarters of an hour are read together, by the index of their times. */
export async function readCounts(db: Db, columns: readonly Column[]): Promise<readonly Counts[]> {
  const { first, end, borders } = bordersOf(columns);
  const { rows } = await sql<{ place: number; kind: Happening; count: number }>`
    WITH progress AS MATERIALIZED (SELECT counted_until AS start FROM history_progress)
    SELECT width_bucket(quarter, ${borders}::timestamptz[]) AS place, kind, sum(count)::integer AS count FROM (
      SELECT quarter, kind, count FROM history_counts WHERE quarter >= ${first} AND quarter < ${end}
      UNION ALL ${countHappenings(sql`(SELECT greatest(start, ${first}) FROM progress)`, sql`${end}::timestamptz`)}
    ) AS happening GROUP BY 1, 2`.execute(db);
  const found = columns.map(() => ({ ...nothing }));
  for (const { place, kind, count } of rows) {
    const counts = found[place - 1];
    if (counts) counts[kind] = count;
  }
  return found;
}

/** Reads the history of each EHR that is known, by its id. */
export async function readEhrColumns(
  db: Db,
  columns: readonly Column[],
): Promise<ReadonlyMap<string, readonly EhrColumn[]>> {
  const { first, end, borders } = bordersOf(columns);
  const classes = noLatencies.map((_, index) => index + 1);
  const { rows } = await sql<EhrRow>`
    WITH seen AS (
      -- Several processes saw the same minute.
      SELECT emr, quarter, bit_or(running)::integer::bit(15) AS running, bit_or(known)::integer::bit(15) AS known,
        bit_or(unavailable)::integer::bit(15) AS unavailable, sum(calls) AS calls, sum(failures) AS failures,
        ${sql.join(classes.map((index) => sql`sum(latencies[${sql.lit(index)}]) AS ${sql.ref(`class_${index}`)}`))}
      FROM ehr_history WHERE quarter >= ${first} AND quarter < ${end} GROUP BY emr, quarter)
    SELECT emr, width_bucket(quarter, ${borders}::timestamptz[]) AS place, sum(bit_count(running))::integer AS running,
      sum(bit_count(known))::integer AS known, sum(bit_count(unavailable))::integer AS unavailable,
      sum(calls)::integer AS calls, sum(failures)::integer AS failures,
      ARRAY[${sql.join(classes.map((index) => sql`sum(${sql.ref(`class_${index}`)})::integer`))}] AS latencies
    FROM seen GROUP BY 1, 2`.execute(db);
  const found = new Map<string, EhrColumn[]>();
  for (const { emr, place, ...seen } of rows) {
    const of = found.get(emr) ?? columns.map(() => unseen);
    found.set(emr, of);
    of[place - 1] = seen;
  }
  return found;
}

interface EhrRow extends EhrColumn {
  readonly emr: string;
  readonly place: number;
}

/** A column in which no process ran. */
export const unseen: EhrColumn = {
  running: 0,
  known: 0,
  unavailable: 0,
  calls: 0,
  failures: 0,
  latencies: noLatencies,
};

function bordersOf(columns: readonly Column[]) {
  const borders = columns.map(({ from }) => from);
  const [first] = borders;
  const end = columns.at(-1)?.until;
  if (!first || !end) throw new RangeError('A history has columns');
  return { first, end, borders };
}
