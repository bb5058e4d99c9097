import type { Appointment } from '@crossward/connector-kit';
import { sql } from 'kysely';
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
  await sql`
    INSERT INTO ehr_changes (emr, appointment_id, care_unit_id, state, starts_at, ends_at, resource_id,
      healthcare_service_id, is_new, read_at, stored_at)
    SELECT ${emr}, appointment_id, care_unit_id, state, starts_at, ends_at, resource_id, healthcare_service_id, is_new,
      ${readAt}, clock_timestamp()
    FROM jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) AS it (
      appointment_id text, care_unit_id text, state text, starts_at timestamptz, ends_at timestamptz, resource_id text,
      healthcare_service_id text, is_new boolean)
    ON CONFLICT (emr, appointment_id) DO UPDATE SET
      care_unit_id = EXCLUDED.care_unit_id, state = EXCLUDED.state, starts_at = EXCLUDED.starts_at,
      ends_at = EXCLUDED.ends_at, resource_id = EXCLUDED.resource_id, is_new = ehr_changes.is_new OR EXCLUDED.is_new,
      healthcare_service_id = EXCLUDED.healthcare_service_id, read_at = EXCLUDED.read_at, stored_at = EXCLUDED.stored_at,
      is_stale = false`.execute(tx);
}
