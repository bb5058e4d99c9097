import { sql } from 'kysely';
import type { Db } from '../db/kysely.ts';

/** An EHR, or one of its care units. */
export interface WorkPlace {
  readonly emr: string;
  /** `null`: the EHR with all of them. */
  readonly careUnit: string | null;
}

/** What a place still has to do with the gateway. */
export interface OpenWork extends WorkPlace {
  /** Writes that have not ended. */
  readonly writes: number;
  /** Confirmations that await a code. */
  readonly codes: number;
  /** Appointments in the EHR that take their time until a code is entered. */
  readonly holds: number;
}

/** Counts the open work of places. Those that have none are left out. */
export async function countOpenWork(db: Db, places: readonly WorkPlace[]): Promise<readonly OpenWork[]> {
  const { rows } = await sql<OpenWork>`
    SELECT place.emr, place.unit AS "careUnit",
      (SELECT count(*)::int FROM operations
        WHERE operations.emr = place.emr AND care_unit_id = coalesce(place.unit, care_unit_id)
          AND state <> 'done' AND sealed_plan IS NOT NULL) AS writes,
      (SELECT count(DISTINCT confirmation_id)::int FROM confirmation_items AS item
        WHERE item.emr = place.emr AND care_unit_id = coalesce(place.unit, care_unit_id)
          AND state IN ('pending', 'confirming')) AS codes,
      (SELECT count(*)::int FROM confirmation_items AS item
        WHERE item.emr = place.emr AND care_unit_id = coalesce(place.unit, care_unit_id)
          AND kind = 'booking' AND ehr_appointment_id IS NOT NULL
          AND state IN ('pending', 'confirming', 'expiring')) AS holds
    FROM unnest(${places.map(({ emr }) => emr)}::text[], ${places.map(({ careUnit }) => careUnit)}::text[])
      AS place (emr, unit)`.execute(db);
  return rows.filter(({ writes, codes, holds }) => writes + codes + holds > 0);
}
