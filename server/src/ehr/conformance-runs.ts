import type { CheckResult } from '@crossward/connector-kit/conformance';
import { sql } from 'kysely';
import type { Db, Tx } from '../db/kysely.ts';

/** What is kept of the last run of the conformance kit at an EHR. */
export interface ConformanceRun {
  readonly run: string;
  readonly careUnitId: string;
  /** Whether it books for a patient. Otherwise it writes nothing. */
  readonly books: boolean;
  readonly startedAt: Date;
  readonly endedAt: Date | null;
  /** It has not ended, and its process is silent. */
  readonly isInterrupted: boolean;
  readonly seconds: number;
  /** Of the run before. */
  readonly expectedSeconds: number | null;
  readonly results: readonly KeptResult[];
  /** Ids of appointments and operations. */
  readonly leftBehind: readonly string[];
  readonly failure: string | null;
}

/** A result whose reason has no value of a record. */
export type KeptResult = Pick<CheckResult, 'capability' | 'check' | 'outcome' | 'reason'>;

/** Seconds between two signs of life of a run. */
export const heartbeat = 10;
/** After which a silent run counts as interrupted. */
const silence = sql`interval '60 seconds'`;
const isOver = sql`(conformance_runs.ended_at IS NOT NULL OR conformance_runs.heard_at < now() - ${silence})`;

/** The last run at an EHR. */
export async function readRun(db: Db, emr: string): Promise<ConformanceRun | undefined> {
  const { rows } = await sql<ConformanceRun>`
    SELECT run, care_unit_id AS "careUnitId", books, started_at AS "startedAt", ended_at AS "endedAt",
      ended_at IS NULL AND ${isOver} AS "isInterrupted", expected_seconds AS "expectedSeconds", results,
      extract(epoch FROM coalesce(ended_at, CASE WHEN ${isOver} THEN heard_at ELSE now() END) - started_at)::float8 AS seconds,
      left_behind AS "leftBehind", failure
    FROM conformance_runs WHERE emr = ${emr}`.execute(db);
  return rows[0];
}

interface NewRun extends Pick<ConformanceRun, 'run' | 'careUnitId' | 'books'> {
  readonly emr: string;
}

/** Replaces the last run at an EHR. Returns `false` if that one is still running. */
export async function claimRun(tx: Tx, { emr, run, careUnitId, books }: NewRun): Promise<boolean> {
  const { numAffectedRows } = await sql`
    INSERT INTO conformance_runs (emr, run, care_unit_id, books) VALUES (${emr}, ${run}, ${careUnitId}, ${books})
    ON CONFLICT (emr) DO UPDATE SET run = excluded.run, care_unit_id = excluded.care_unit_id, books = excluded.books,
      started_at = now(), heard_at = now(), ended_at = NULL, results = '[]', left_behind = '[]', failure = NULL,
      expected_seconds = CASE
        WHEN conformance_runs.failure IS NULL AND conformance_runs.books = excluded.books
        THEN extract(epoch FROM conformance_runs.ended_at - conformance_runs.started_at) END
    WHERE ${isOver}`.execute(tx);
  return numAffectedRows === 1n;
}

/** Keeps what a run has found so far. Returns `false` if it has ended, or another run has replaced it. */
export async function keepRun(
  db: Db,
  run: string,
  { results, leftBehind = [], failure, isEnd = false }: Kept,
): Promise<boolean> {
  const { numAffectedRows } = await sql`
    UPDATE conformance_runs SET heard_at = now(), results = ${JSON.stringify(results.map(withoutValues))}::jsonb,
      left_behind = ${JSON.stringify(leftBehind)}::jsonb, failure = ${failure ?? null},
      ended_at = CASE WHEN ${isEnd} THEN now() END
    WHERE run = ${run} AND ended_at IS NULL`.execute(db);
  return numAffectedRows === 1n;
}

interface Kept {
  readonly results: readonly CheckResult[];
  readonly leftBehind?: readonly string[] | undefined;
  readonly failure?: string | undefined;
  readonly isEnd?: boolean | undefined;
}

/** What was expected and seen can be of the patient, and so can ids and the words of an error. They come after the first colon. */
function withoutValues({ capability, check, outcome, reason }: CheckResult): KeptResult {
  const [shown] = outcome === 'failed' ? (reason ?? '').split(/:\s/) : [reason];
  return { capability, check, outcome, reason: shown ?? null };
}
