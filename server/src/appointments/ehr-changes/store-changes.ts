import type { Appointment } from '@crossward/connector-kit';
import { type RawBuilder, sql } from 'kysely';
import type { Tx } from '../../db/kysely.ts';

export interface SeenAppointment {
  readonly appointment: Appointment;
  /** It was booked since the earlier reading. */
  readonly isNew: boolean;
}

/**
 * Stores appointments as they were read. An operation that is unfinished now may have made the change; one that starts later
 * cannot.
 *
 * @param readAt a time before the EHR was read, by the database's clock
 */
export async function storeChanges(tx: Tx, emr: string, seen: readonly SeenAppointment[], readAt: Date): Promise<void> {
  if (seen.length === 0) return;
  await sql`
    INSERT INTO ehr_changes (emr, appointment_id, care_unit_id, state, starts_at, ends_at, resource_id,
      healthcare_service_id, is_new, read_at, stored_at)
    SELECT ${emr}, appointment_id, care_unit_id, state, starts_at, ends_at, resource_id, healthcare_service_id, is_new,
      ${readAt}, clock_timestamp()
    FROM ${asRows(seen)}
    ON CONFLICT (emr, appointment_id) DO UPDATE SET
      care_unit_id = EXCLUDED.care_unit_id, state = EXCLUDED.state, starts_at = EXCLUDED.starts_at,
      ends_at = EXCLUDED.ends_at, resource_id = EXCLUDED.resource_id, is_new = ehr_changes.is_new OR EXCLUDED.is_new,
      healthcare_service_id = EXCLUDED.healthcare_service_id, read_at = EXCLUDED.read_at, stored_at = EXCLUDED.stored_at,
      is_stale = false`.execute(tx);
}

/**
 * Stores appointments that were read again because they were stale. Those of `ids` that do not exist any more are forgotten,
 * unless they were read as cancelled: some EHRs report deletions so. What another process has stored since `readAt` is newer,
 * and stays.
 *
 * @param readAt a time before the EHR was read, by the database's clock and as exact as its
 */
export async function refreshStale(
  tx: Tx,
  emr: string,
  ids: readonly string[],
  found: readonly Appointment[],
  readAt: string,
): Promise<void> {
  const isStill = sql`ehr_changes.emr = ${emr} AND is_stale AND stored_at <= ${readAt}::timestamptz`;
  await sql`
    UPDATE ehr_changes SET care_unit_id = it.care_unit_id, state = it.state, starts_at = it.starts_at, ends_at = it.ends_at,
      resource_id = it.resource_id, healthcare_service_id = it.healthcare_service_id, read_at = ${readAt}::timestamptz,
      stored_at = clock_timestamp(), is_stale = false
    FROM ${asRows(found.map((appointment) => ({ appointment, isNew: false })))}
    WHERE ehr_changes.appointment_id = it.appointment_id AND ${isStill}`.execute(tx);
  await sql`
    UPDATE ehr_changes SET read_at = ${readAt}::timestamptz, stored_at = clock_timestamp(), is_stale = false
    WHERE appointment_id = ANY(${ids}::text[]) AND state = 'cancelled' AND ${isStill}`.execute(tx);
  await sql`DELETE FROM ehr_changes WHERE appointment_id = ANY(${ids}::text[]) AND ${isStill}`.execute(tx);
}

/** The appointments as rows of `it`, each once. */
function asRows(seen: readonly SeenAppointment[]): RawBuilder<unknown> {
  const rows = [...new Map(seen.map((it) => [it.appointment.id, it])).values()].map(({ appointment: it, isNew }) => ({
    appointment_id: it.id,
    care_unit_id: it.careUnitId,
    state: it.state,
    starts_at: it.start,
    ends_at: it.end,
    resource_id: it.resourceId,
    healthcare_service_id: it.healthcareServiceId,
    is_new: isNew,
  }));
  return sql`jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) AS it (
    appointment_id text, care_unit_id text, state text, starts_at timestamptz, ends_at timestamptz, resource_id text,
    healthcare_service_id text, is_new boolean)`;
}
