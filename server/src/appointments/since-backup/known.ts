import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../../db/kysely.ts';
import type { AppointmentEventData } from '../../events/new-event.ts';
import { toldState } from '../ehr-changes/told-state.ts';

/**
 * What the gateway has known before the backup, or has done itself since. Events of changes that it has seen in the EHR since
 * then are no such knowledge: they are what was made meanwhile.
 */
const isKnowledge = (since: Date): RawBuilder<boolean> =>
  sql`type LIKE 'appointment.%' AND (NOT is_observed OR occurred_at < ${since})`;

/** A booking as the gateway knows it. */
export interface KnownBooking {
  /** The EHR's id. */
  readonly id: string;
  readonly status: AppointmentEventData['status'];
  readonly start: Date;
  readonly end: Date | null;
  readonly resourceId: string | null;
}

const atOnce = 100;

/** The bookings of a care unit that the gateway knows, from this time on, a page at a time. Drafts are not in the EHR. */
export async function* knownBookings(
  db: Db,
  { emr, careUnitId }: { readonly emr: string; readonly careUnitId: string },
  since: Date,
): AsyncGenerator<readonly KnownBooking[]> {
  let before: string | null = null;
  for (;;) {
    const rows: readonly Row[] = (
      await sql<Row>`
        WITH newest AS (
          SELECT DISTINCT ON (subject) subject, data FROM events
          WHERE emr = ${emr} AND care_unit_id = ${careUnitId} AND ${isKnowledge(since)}
            AND ${before === null ? sql`true` : sql`subject < ${before}`}
          ORDER BY subject DESC, sequence DESC)
        SELECT subject, data, CASE WHEN item.emr IS NULL THEN subject ELSE item.ehr_appointment_id END AS id
        FROM newest LEFT JOIN confirmation_items AS item
          ON item.emr = ${emr} AND item.appointment_id = newest.subject AND item.kind = 'booking'
        WHERE data ->> 'status' <> 'cancelled' AND (data ->> 'start')::timestamptz >= ${since}
        ORDER BY subject DESC LIMIT ${atOnce}`.execute(db)
    ).rows;
    const last = rows.at(-1);
    if (!last) return;
    before = last.subject;
    yield rows.flatMap(asKnown);
  }
}

interface Row {
  readonly subject: string;
  readonly data: AppointmentEventData;
  /** `null`: a draft. */
  readonly id: string | null;
}

function asKnown({ id, data }: Row): readonly KnownBooking[] {
  const told = toldState([data]);
  if (id === null || !told?.start) return [];
  const { status, start, end = null, resourceId = null } = told;
  return [{ id, status, start, end, resourceId }];
}

/** Those of these ids of an EHR that the gateway knows: from an event, a confirmation or a move of its own. */
export async function knownIds(db: Db, emr: string, ids: readonly string[], since: Date): Promise<ReadonlySet<string>> {
  const { rows } = await sql<{ id: string }>`
    SELECT wanted.id FROM unnest(${ids}::text[]) AS wanted (id)
    WHERE EXISTS (SELECT FROM events WHERE emr = ${emr} AND subject = wanted.id AND ${isKnowledge(since)})
      OR EXISTS (SELECT FROM confirmation_items WHERE emr = ${emr} AND ehr_appointment_id = wanted.id)
      OR EXISTS (SELECT FROM moved_appointments WHERE emr = ${emr} AND appointment_id = wanted.id)`.execute(db);
  return new Set(rows.map(({ id }) => id));
}

/** Ids by care unit of appointments that gateways have seen changed in the EHR since then. */
export async function observedSince(
  db: Db,
  emr: string,
  since: Date,
): Promise<readonly { readonly id: string; readonly careUnitId: string }[]> {
  const { rows } = await sql<{ id: string; careUnitId: string }>`
    SELECT DISTINCT subject AS id, care_unit_id AS "careUnitId" FROM events
    WHERE emr = ${emr} AND is_observed AND type LIKE 'appointment.%' AND occurred_at >= ${since}
    UNION
    SELECT appointment_id, view ->> 'care_unit_id' FROM ehr_changes, jsonb_array_elements(views) AS view
    WHERE emr = ${emr} AND stored_at >= ${since}`.execute(db);
  return rows;
}

/** How far the changes of an EHR were read. `undefined`: they were not, or by another connector. */
export async function readUntil(db: Db, emr: string, connector: string): Promise<string | undefined> {
  const { rows } = await sql<{ cursor: string }>`
    SELECT cursor FROM ehr_change_feeds WHERE emr = ${emr} AND connector = ${connector} AND cursor IS NOT NULL`.execute(
    db,
  );
  return rows[0]?.cursor;
}
