import { sql } from 'kysely';
import type { Db } from '../db/kysely.ts';
import type { KeyRing } from '../secrets/key-ring.ts';
import { openPlan } from '../writes/stored-write.ts';

/** A write that was interrupted a moment ago usually ends without an operator. In seconds. */
const lateAfter = 60;
/** Plans that are decrypted to count patients. */
const mostRead = 500;

/** Writes of an EHR that wait for the same cause. */
export interface StuckWrites {
  readonly emr: string;
  /** They wait for an operator. Otherwise background jobs still retry them. */
  readonly isSuspended: boolean;
  /** Reason of the last failure. */
  readonly lastFailure: string | null;
  readonly count: number;
  /** When the first of them was created or, if it is suspended, was suspended. */
  readonly since: Date;
  /** The EHR's ids of the patients whom they concern, as far as their plans say: to be counted, not to be shown. */
  readonly patients: ReadonlySet<string>;
}

interface Row {
  readonly id: string;
  readonly clientId: string;
  readonly emr: string;
  readonly isSuspended: boolean;
  readonly lastFailure: string | null;
  readonly since: Date;
  readonly sealedPlan: Buffer;
}

/**
 * The writes that are suspended, or have not ended within a minute and that no process is working on, by cause. Those
 * that only watch for late effects are left out.
 */
export async function groupStuckWrites({
  db,
  keys,
}: {
  readonly db: Db;
  readonly keys: KeyRing;
}): Promise<StuckWrites[]> {
  const { rows } = await sql<Row>`
    SELECT id, client_id AS "clientId", emr, suspended_at IS NOT NULL AS "isSuspended", last_failure AS "lastFailure",
      coalesce(suspended_at, created_at) AS since, sealed_plan AS "sealedPlan"
    FROM operations
    WHERE sealed_plan IS NOT NULL AND (suspended_at IS NOT NULL
      OR next_attempt_at IS NOT NULL AND state <> 'done' AND created_at < now() - make_interval(secs => ${lateAfter})
        AND (lease_expires_at IS NULL OR lease_expires_at <= now()))`.execute(db);
  const patients = new Map(rows.slice(0, mostRead).map((row) => [row, patientsIn(keys, row)]));
  const groups = Map.groupBy(rows, ({ emr, isSuspended, lastFailure }) => `${emr} ${isSuspended} ${lastFailure}`);
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
    if (!first) return [];
    const { emr, isSuspended, lastFailure } = first;
    const since = new Date(Math.min(...group.map((row) => row.since.getTime())));
    const concerned = new Set(group.flatMap((row) => patients.get(row) ?? []));
    return { emr, isSuspended, lastFailure, count: group.length, since, patients: concerned };
  });
}

/** The EHR's ids of the patients in a plan. None if the plan has none, or its secret key is missing. */
function patientsIn(keys: KeyRing, { clientId, id, sealedPlan }: Row): readonly string[] {
  try {
    return idsIn(openPlan(keys, clientId, id, sealedPlan));
  } catch {
    return [];
  }
}

/** Every kind of write names its patients `patientId`. */
function idsIn(value: unknown): readonly string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) =>
    name === 'patientId' && typeof inner === 'string' ? inner : idsIn(inner),
  );
}
