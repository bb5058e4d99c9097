import type { Appointment } from '@crossward/connector-kit';
import { type RawBuilder, sql } from 'kysely';
import type { Tx } from '../../db/kysely.ts';
import type { AppointmentView } from '../../db/tables/ehr-changes.ts';

export interface SeenAppointment {
  /** The EHR's id. */
  readonly id: string;
  /** As the care units show it, each once. Empty: none does. */
  readonly views: readonly Appointment[];
  /** It was booked since the earlier reading. */
  readonly isNew: boolean;
}

/**
 * Stores appointments as they were read, each once. A write that is unfinished now may have made the change; one that
 * starts later cannot.
 *
 * @param readAt a time before the EHR was read, by the database's clock
 */
export async function storeChanges(tx: Tx, emr: string, seen: readonly SeenAppointment[], readAt: Date): Promise<void> {
  if (seen.length === 0) return;
  await sql`
    INSERT INTO ehr_changes (emr, appointment_id, views, is_new, read_at, stored_at)
    SELECT ${emr}, appointment_id, views, is_new, ${readAt}, clock_timestamp() FROM ${asRows(seen)}
    ON CONFLICT (emr, appointment_id) DO UPDATE SET
      views = EXCLUDED.views, is_new = ehr_changes.is_new OR EXCLUDED.is_new, read_at = EXCLUDED.read_at,
      stored_at = EXCLUDED.stored_at, is_stale = false, is_checked = false`.execute(tx);
}

/** Forgets earlier readings of appointments: the events say what they are now. */
export async function forgetChanges(tx: Tx, emr: string, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  await sql`DELETE FROM ehr_changes WHERE emr = ${emr} AND appointment_id = ANY(${ids}::text[])`.execute(tx);
}

/**
 * Stores appointments that were read again in all their care units. One that none of them shows has gone, unless it was read as
 * cancelled: some EHRs report deletions so. What another process has stored since `readAt` is newer, and stays.
 *
 * @param readAt a time before the EHR was read, by the database's clock and as exact as its
 */
export async function refreshStale(
  tx: Tx,
  emr: string,
  seen: readonly SeenAppointment[],
  readAt: string,
): Promise<void> {
  await sql`
    UPDATE ehr_changes SET read_at = ${readAt}::timestamptz, stored_at = clock_timestamp(), is_stale = false, is_checked = true,
      views = CASE WHEN it.views = '[]' AND ehr_changes.views @> '[{"state": "cancelled"}]' THEN ehr_changes.views ELSE it.views END
    FROM ${asRows(seen)}
    WHERE ehr_changes.emr = ${emr} AND ehr_changes.appointment_id = it.appointment_id AND is_stale
      AND stored_at <= ${readAt}::timestamptz`.execute(tx);
}

/** The appointments as rows of `it`. */
function asRows(seen: readonly SeenAppointment[]): RawBuilder<unknown> {
  const rows = seen.map(({ id, views, isNew }) => ({ appointment_id: id, views: views.map(toView), is_new: isNew }));
  return sql`jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) AS it (appointment_id text, views jsonb, is_new boolean)`;
}

export function toView(appointment: Appointment): AppointmentView {
  return {
    care_unit_id: appointment.careUnitId,
    state: appointment.state,
    start: appointment.start.toISOString(),
    end: appointment.end?.toISOString() ?? null,
    resource_id: appointment.resourceId,
    healthcare_service_id: appointment.healthcareServiceId,
    attendance: appointment.attendance ?? null,
  };
}
