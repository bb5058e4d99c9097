import { sql } from 'kysely';
import type { Db } from '../db/kysely.ts';

/** What an EHR still has to do with the gateway. */
export interface OpenWork {
  readonly emr: string;
  /** Writes that have not ended. */
  readonly writes: number;
  /** Confirmations that await a code. */
  readonly codes: number;
  /** Appointments in the EHR that take their time until a code is entered. */
  readonly holds: number;
}

/** Counts the open work of EHRs. Those that have none are left out. */
export async function countOpenWork(db: Db, emrs: readonly string[]): Promise<readonly OpenWork[]> {
  const { rows } = await sql<OpenWork>`
    SELECT ehr.emr,
      (SELECT count(*)::int FROM operations
        WHERE operations.emr = ehr.emr AND state <> 'done' AND sealed_plan IS NOT NULL) AS writes,
      (SELECT count(DISTINCT confirmation_id)::int FROM confirmation_items AS item
        WHERE item.emr = ehr.emr AND state IN ('pending', 'confirming')) AS codes,
      (SELECT count(*)::int FROM confirmation_items AS item
        WHERE item.emr = ehr.emr AND kind = 'booking' AND ehr_appointment_id IS NOT NULL
          AND state IN ('pending', 'confirming', 'expiring')) AS holds
    FROM unnest(${[...emrs]}::text[]) AS ehr (emr)`.execute(db);
  return rows.filter(({ writes, codes, holds }) => writes + codes + holds > 0);
}
