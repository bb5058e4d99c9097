import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import type { Db } from '../db/kysely.ts';
import type { EhrConnection } from '../ehr/connection.ts';
import { type CallHistory, noLatencies } from '../ehr/guard/call-history.ts';

const minuteMs = 60_000;
const minutesOfQuarter = 15;
/** Quarters of an hour that are kept in memory while the database does not respond: a day. */
const mostUnwritten = 96;

/** A row of `ehr_history`. */
interface Quarter {
  readonly quarter: string;
  readonly emr: string;
  running: number;
  known: number;
  unavailable: number;
  calls: number;
  failures: number;
  latencies: readonly number[];
}

interface Sources {
  readonly db: Db;
  /** Those that there are now. */
  readonly ehrs: () => Iterable<Pick<EhrConnection, 'id' | 'isOpen' | 'health'>>;
  readonly calls: CallHistory;
  /** The database's time. The calls are kept by the same clock. */
  now(): number;
}

/**
 * Returns a job that writes state and latency of each EHR, as this process sees them. To be called several times a minute: it
 * looks at the states each time, and writes once a minute, by one statement for all EHRs. Rows are written whole, so a minute
 * counts once although the database could not answer, and what was not written is made up for.
 */
export function recordEhrs({ db, ehrs, calls, now }: Sources): () => Promise<void> {
  const process = randomUUID();
  /** By the number of the quarter since 1970. */
  let quarters = new Map<number, Map<string, Quarter>>();
  let latest: number | undefined;

  function rowOf(emr: string, minute: number): Quarter {
    const number = Math.floor(minute / minutesOfQuarter);
    const rows = quarters.get(number) ?? new Map<string, Quarter>();
    quarters.set(number, rows);
    const row = rows.get(emr) ?? newRow(emr, number);
    rows.set(emr, row);
    return row;
  }

  function look(minute: number): void {
    const bit = 1 << (minute % minutesOfQuarter);
    for (const ehr of ehrs()) {
      const row = rowOf(ehr.id, minute);
      const state = stateOf(ehr);
      row.running |= bit;
      if (state !== 'unknown') row.known |= bit;
      if (state === 'unavailable') row.unavailable |= bit;
    }
  }

  /** Adds the calls of the minutes after one and before another. */
  function addCalls(after: number, before: number): void {
    for (const { id } of ehrs()) {
      for (const { start, calls: count, failures } of calls.of(id)) {
        const minute = start / minuteMs;
        if (minute <= after || minute >= before || count === 0) continue;
        const row = rowOf(id, minute);
        const latencies = calls.latencies(id, start);
        row.calls += count;
        row.failures += failures;
        row.latencies = row.latencies.map((sum, index) => sum + (latencies[index] ?? 0));
      }
    }
  }

  return async () => {
    const minute = Math.floor(now() / minuteMs);
    // The clock was corrected.
    if (latest !== undefined && minute < latest) return;
    look(minute);
    if (minute === latest) return;
    addCalls(latest === undefined ? Number.NEGATIVE_INFINITY : latest - 1, minute);
    latest = minute;
    quarters = new Map([...quarters].slice(-mostUnwritten));
    await write(
      db,
      process,
      [...quarters.values()].flatMap((rows) => [...rows.values()]),
    );
    const current = Math.floor(minute / minutesOfQuarter);
    quarters = new Map([...quarters].filter(([number]) => number === current));
  };
}

function newRow(emr: string, number: number): Quarter {
  const quarter = new Date(number * minutesOfQuarter * minuteMs).toISOString();
  return { quarter, emr, running: 0, known: 0, unavailable: 0, calls: 0, failures: 0, latencies: noLatencies };
}

/** Until its first call, an EHR is neither available nor unavailable. */
function stateOf(ehr: Pick<EhrConnection, 'isOpen' | 'health'>) {
  const { breaker, lastSuccessAt, pause } = ehr.health();
  if (pause || !ehr.isOpen || breaker !== 'closed') return 'unavailable';
  return lastSuccessAt === null ? 'unknown' : 'available';
}

async function write(db: Db, process: string, rows: readonly Quarter[]): Promise<void> {
  await sql`
    INSERT INTO ehr_history (quarter, emr, process, running, known, unavailable, calls, failures, latencies)
    SELECT quarter, emr, ${process}::uuid, running, known, unavailable, calls, failures, latencies
    FROM jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) AS row (
      quarter timestamptz, emr text, running smallint, known smallint, unavailable smallint, calls integer,
      failures integer, latencies integer[])
    ON CONFLICT (quarter, emr, process) DO UPDATE SET running = excluded.running, known = excluded.known,
      unavailable = excluded.unavailable, calls = excluded.calls, failures = excluded.failures,
      latencies = excluded.latencies`.execute(db);
}
