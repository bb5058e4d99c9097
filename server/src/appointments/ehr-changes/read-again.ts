import type { Appointment } from '@crossward/connector-kit';
import { sql } from 'kysely';
import type { Db } from '../../db/kysely.ts';
import type { EhrConnection } from '../../ehr/connection.ts';
import { refreshStale } from './store-changes.ts';

const atOnce = 100;

/**
 * Reads appointments again that have got an event since they were read, or that a care unit may not show any more: in the care
 * units that showed them, and in those that have events of them.
 */
export async function readAgain(db: Db, ehr: EhrConnection): Promise<void> {
  const { rows: stale } = await sql<{ appointment_id: string; care_units: readonly string[]; read_at: string }>`
    SELECT appointment_id, clock_timestamp()::text AS read_at, ARRAY(
      SELECT view ->> 'care_unit_id' FROM jsonb_array_elements(views) AS view
      UNION
      SELECT care_unit_id FROM events
      WHERE events.emr = change.emr AND type LIKE 'appointment.%' AND subject IN (change.appointment_id, (
        SELECT appointment_id FROM confirmation_items AS item
        WHERE item.emr = change.emr AND kind = 'booking' AND ehr_appointment_id = change.appointment_id LIMIT 1))
    ) AS care_units
    FROM ehr_changes AS change WHERE emr = ${ehr.id} AND is_stale LIMIT ${atOnce}`.execute(db);
  const [{ read_at } = { read_at: undefined }] = stale;
  if (read_at === undefined) return;
  const found: Appointment[] = [];
  for (const careUnit of ehr.careUnits.values()) {
    const ids = stale.filter(({ care_units }) => care_units.includes(careUnit.id)).map((it) => it.appointment_id);
    if (ids.length > 0) found.push(...(await ehr.call('findAppointments', careUnit, ids)));
  }
  const views = Map.groupBy(found, ({ id }) => id);
  const seen = stale.map(({ appointment_id: id }) => ({ id, views: views.get(id) ?? [], isNew: false }));
  await db.transaction().execute((tx) => refreshStale(tx, ehr.id, seen, read_at));
}
