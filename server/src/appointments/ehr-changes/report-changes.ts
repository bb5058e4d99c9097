import { type Selectable, sql } from 'kysely';
import type { Db, Tx } from '../../db/kysely.ts';
import type { EhrChangeRow } from '../../db/tables/ehr-changes.ts';
import type { EhrConnection } from '../../ehr/connection.ts';
import { type Changed, eventsText, withEvents } from '../../events/write-events.ts';
import type { WriteServices } from '../../writes/write-kind.ts';
import { compareWithEvents, type Observed } from './compare-with-events.ts';
import { readAgain } from './read-again.ts';

const atOnce = 100;
/** Seconds, added to the time after which the outcome of a write is known if the EHR is available. */
const marginSeconds = 120;

/**
 * Writes the events of changes that were made directly in an EHR. A change first waits for the writes of its care units
 * that were unfinished when it was read. When they have ended, the stored events contain what the gateway has done, and any
 * other difference was made by others. A change does not wait for monitored writes, which take a day, and for anything not
 * longer than it takes to know the outcome of a write. A write that takes longer can report a move a second time. Returns
 * whether there is more to do.
 */
export async function reportChanges(services: WriteServices, ehr: EhrConnection): Promise<boolean> {
  const { db } = services;
  if (!ehr.isOpen || !(await hasUnreported(db, ehr.id))) return false;
  const count = await db.transaction().execute(async (tx) => {
    const rows = await settledChanges(tx, ehr);
    if (rows.length > 0) await reportRows(tx, services, ehr, rows);
    return rows.length;
  });
  await readAgain(db, ehr);
  return count === atOnce;
}

async function hasUnreported(db: Db, emr: string): Promise<boolean> {
  const { rows } = await sql`SELECT FROM ehr_changes WHERE emr = ${emr} LIMIT 1`.execute(db);
  return rows.length > 0;
}

/** Changes whose writes have ended, and whose code is not about to be confirmed or to expire, and those that waited long. */
async function settledChanges(tx: Tx, { id, times }: EhrConnection): Promise<readonly Selectable<EhrChangeRow>[]> {
  const longestWait = times.callSeconds + times.settlingSeconds + marginSeconds;
  const { rows } = await sql<Selectable<EhrChangeRow>>`
    WITH unfinished AS MATERIALIZED (
      SELECT care_unit_id, min(created_at) AS oldest FROM operations
      WHERE emr = ${id} AND next_attempt_at IS NOT NULL AND state <> 'done'
        -- Without a plan, it has not called the EHR.
        AND sealed_plan IS NOT NULL GROUP BY care_unit_id)
    SELECT change.* FROM ehr_changes AS change
    WHERE emr = ${id} AND NOT is_stale
      AND (stored_at <= clock_timestamp() - make_interval(secs => ${longestWait}) OR NOT EXISTS (
        SELECT FROM unfinished WHERE oldest <= change.stored_at AND (
          views = '[]' OR views @> jsonb_build_array(jsonb_build_object('care_unit_id', unfinished.care_unit_id)))
      ) AND NOT EXISTS (
        SELECT FROM confirmation_items AS item JOIN confirmations AS confirmation ON confirmation.id = item.confirmation_id
        WHERE item.emr = change.emr AND item.ehr_appointment_id = change.appointment_id AND (
          item.state IN ('confirming', 'expiring')
          OR (item.state = 'pending' AND confirmation.expires_at <= clock_timestamp()))))
    ORDER BY read_at LIMIT ${atOnce} FOR UPDATE OF change SKIP LOCKED`.execute(tx);
  return rows;
}

/** A few statements for all rows, because the gateway's own changes are read too: most rows need no event. */
async function reportRows(
  tx: Tx,
  services: WriteServices,
  ehr: EhrConnection,
  rows: readonly Selectable<EhrChangeRow>[],
): Promise<void> {
  const changes: Observed[] = [];
  const stale = new Set<string>();
  for (const [row, found] of await compareWithEvents(tx, { services, ehr }, rows)) {
    if (found) changes.push(...found);
    else stale.add(row.appointment_id);
  }
  const written = await writeUnlessNewer(tx, ehr.id, changes);
  for (const change of changes) if (!written.has(change)) stale.add(change.id);
  const reported = rows.map(({ appointment_id }) => appointment_id).filter((id) => !stale.has(id));
  await sql`DELETE FROM ehr_changes WHERE emr = ${ehr.id} AND appointment_id = ANY(${reported}::text[])`.execute(tx);
  if (stale.size === 0) return;
  await sql`UPDATE ehr_changes SET is_stale = true WHERE emr = ${ehr.id} AND appointment_id = ANY(${[...stale]}::text[])`.execute(
    tx,
  );
}

/**
 * Writes each event unless its appointment has got a newer one in the care unit, from a write that has ended meanwhile.
 * Returns the changes whose event was written.
 */
async function writeUnlessNewer(tx: Tx, emr: string, changes: readonly Observed[]): Promise<ReadonlySet<Observed>> {
  if (changes.length === 0) return new Set();
  const compared = changes.map(({ event: { subject, careUnitId }, after }, id) => ({ id, subject, careUnitId, after }));
  const current = sql<Changed>`
    SELECT id, clock_timestamp() AS began_at
    FROM jsonb_to_recordset(${JSON.stringify(compared)}::jsonb) AS it (id text, subject text, "careUnitId" text, after bigint)
    WHERE NOT EXISTS (
      SELECT FROM events
      WHERE events.emr = ${emr} AND events.subject = it.subject AND care_unit_id = "careUnitId"
        AND type LIKE 'appointment.%' AND sequence > it.after)`;
  const texts = eventsText(changes.map(({ event }, id) => ({ id: String(id), events: [event] })));
  const { rows } = await withEvents(current, texts).execute(tx);
  return new Set(rows.flatMap(({ id }) => changes[Number(id)] ?? []));
}
