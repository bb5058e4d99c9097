import { sql } from 'kysely';
import type { Db, Tx } from '../../db/kysely.ts';
import type { EhrChangeRow } from '../../db/tables/ehr-changes.ts';
import type { EhrConnection } from '../../ehr/connection.ts';
import type { AppointmentEventData } from '../../events/new-event.ts';
import { writeEvents } from '../../events/write-events.ts';
import type { OperationServices } from '../../operations/services.ts';
import { changeEvent } from './change-event.ts';
import { readAgain } from './read-again.ts';
import { toldState } from './told-state.ts';

const atOnce = 100;
/** Events of an appointment that are looked at. */
const mostEvents = 50;

/**
 * Writes the events of changes that were made directly in an EHR. A change waits until the operations have ended that were
 * unfinished when it was read: then the events say what the gateway has done, and whatever else differs was done by others.
 * Returns whether there is more to do.
 */
export async function reportChanges(services: OperationServices, ehr: EhrConnection): Promise<boolean> {
  const { db } = services;
  if (!ehr.isOpen) return false;
  const count = await db.transaction().execute(async (tx) => {
    const rows = await settledChanges(tx, ehr.id);
    for (const row of rows) await reportChange(tx, services, ehr, row);
    return rows.length;
  });
  await readAgain(db, ehr);
  return count === atOnce;
}

/** Changes whose operations have ended, and whose code is not about to be confirmed or to expire. */
async function settledChanges(tx: Tx, emr: string): Promise<readonly EhrChangeRow[]> {
  const { rows } = await sql<EhrChangeRow>`
    SELECT * FROM ehr_changes AS change
    WHERE emr = ${emr} AND NOT is_stale
      AND NOT EXISTS (SELECT FROM operations WHERE id = ANY(change.waits_for) AND next_attempt_at IS NOT NULL)
      AND NOT EXISTS (
        SELECT FROM confirmation_items AS item JOIN confirmations AS confirmation ON confirmation.id = item.confirmation_id
        WHERE item.emr = change.emr AND item.ehr_appointment_id = change.appointment_id AND (
          item.state IN ('confirming', 'expiring')
          OR (item.state = 'pending' AND confirmation.expires_at <= clock_timestamp())))
    ORDER BY read_at LIMIT ${atOnce} FOR UPDATE OF change SKIP LOCKED`.execute(tx);
  return rows;
}

async function reportChange(tx: Tx, services: OperationServices, ehr: EhrConnection, row: EhrChangeRow): Promise<void> {
  const careUnit = ehr.careUnits.get(row.care_unit_id);
  const id = await callersId(tx, row);
  const events = await eventsAbout(tx, row.emr, id);
  const event =
    careUnit && changeEvent({ services, ehr, careUnit }, row, id, toldState(events.map(({ data }) => data)));
  const [newest] = events;
  if (event && newest && newest.occurred_at >= row.read_at) {
    // The event may report an older or a newer change than the one that was read.
    await sql`UPDATE ehr_changes SET is_stale = true WHERE emr = ${row.emr} AND appointment_id = ${row.appointment_id}`.execute(
      tx,
    );
    return;
  }
  if (event) await writeEvents(tx, [event]);
  await sql`DELETE FROM ehr_changes WHERE emr = ${row.emr} AND appointment_id = ${row.appointment_id}`.execute(tx);
}

/** Callers know a confirmed draft by the id of the draft. */
async function callersId(tx: Tx, { emr, appointment_id }: EhrChangeRow): Promise<string> {
  const item = await tx
    .selectFrom('confirmation_items')
    .select('appointment_id')
    .where('emr', '=', emr)
    .where('ehr_appointment_id', '=', appointment_id)
    .where('kind', '=', 'booking')
    .executeTakeFirst();
  return item?.appointment_id ?? appointment_id;
}

/** The newest first. */
async function eventsAbout(tx: Db | Tx, emr: string, subject: string) {
  const { rows } = await sql<{ occurred_at: Date; data: AppointmentEventData }>`
    SELECT occurred_at, data FROM events
    WHERE emr = ${emr} AND subject = ${subject} AND type LIKE 'appointment.%'
    ORDER BY sequence DESC LIMIT ${mostEvents}`.execute(tx);
  return rows;
}
