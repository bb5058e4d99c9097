import { type Selectable, sql } from 'kysely';
import type { Db, Tx } from '../../db/kysely.ts';
import type { EhrChangeRow } from '../../db/tables/ehr-changes.ts';
import type { EhrConnection } from '../../ehr/connection.ts';
import type { AppointmentEventData, NewEvent } from '../../events/new-event.ts';
import type { WriteServices } from '../../writes/write-kind.ts';
import { changeEvents, goneEvents } from './change-event.ts';

/** Maximum number of events that are read for an appointment. */
const mostEvents = 50;

/** An appointment as it was read. */
export type ReadAppointment = Pick<
  Selectable<EhrChangeRow>,
  'appointment_id' | 'views' | 'is_new' | 'read_at' | 'is_checked'
>;

interface Context {
  readonly services: WriteServices;
  readonly ehr: EhrConnection;
}

/**
 * What the events do not say about each appointment: nothing, or the events that it needs. `undefined`: it must be read again,
 * since an event is newer than the reading, or a care unit would be told that it is gone although only the EHR's list of
 * changes says so.
 */
export async function compareWithEvents<Row extends ReadAppointment>(
  db: Db | Tx,
  context: Context,
  rows: readonly Row[],
): Promise<ReadonlyMap<Row, readonly Observed[] | undefined>> {
  const { id: emr } = context.ehr;
  const drafts = await draftIds(
    db,
    emr,
    rows.map(({ appointment_id }) => appointment_id),
  );
  const idOf = ({ appointment_id }: ReadAppointment) => drafts.get(appointment_id) ?? appointment_id;
  const eventsOf = await eventsAbout(db, emr, rows.map(idOf));
  return new Map(rows.map((row) => [row, compare(context, row, idOf(row), eventsOf.get(idOf(row)) ?? [])]));
}

export interface Observed {
  /** The EHR's id of the appointment. */
  readonly id: string;
  readonly event: NewEvent;
  /** Sequence of the newest event of the care unit that it was compared with. */
  readonly after: number;
}

/**
 * Care unit by care unit: a client may not learn what the appointment was in another one. Former care units come first, so that
 * the last event says where it is now.
 */
function compare(
  { services, ehr }: Context,
  row: ReadAppointment,
  id: string,
  earlier: readonly Earlier[],
): readonly Observed[] | undefined {
  const eventsIn = Map.groupBy(earlier, ({ care_unit_id }) => care_unit_id);
  const shown = new Set(row.views.map(({ care_unit_id }) => care_unit_id));
  const observed: Observed[] = [];
  for (const careUnitId of new Set([...[...eventsIn.keys()].filter((it) => !shown.has(it)), ...shown])) {
    const careUnit = ehr.careUnits.get(careUnitId);
    if (!careUnit) continue;
    const context = { services, ehr, careUnit };
    const events = eventsIn.get(careUnitId) ?? [];
    const told = events.map(({ data }) => data);
    const view = row.views.find((it) => it.care_unit_id === careUnitId);
    const isNew = row.is_new || (events.length === 0 && earlier.length > 0);
    const needed = view ? changeEvents(context, view, { id, isNew, told }) : goneEvents(context, { id, told });
    if (needed.length === 0) continue;
    const [newest] = events;
    if ((newest && newest.occurred_at >= row.read_at) || !(view || row.is_checked)) return undefined;
    const after = newest?.sequence ?? 0;
    observed.push(...needed.map((event) => ({ id: row.appointment_id, event, after })));
  }
  return observed;
}

/** The ids of confirmed drafts, by which callers know these appointments. Key: the EHR's id. */
async function draftIds(db: Db | Tx, emr: string, ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const { rows } = await sql<{ ehr_appointment_id: string; appointment_id: string }>`
    SELECT ehr_appointment_id, appointment_id FROM confirmation_items
    WHERE emr = ${emr} AND kind = 'booking' AND ehr_appointment_id = ANY(${ids}::text[])`.execute(db);
  return new Map(rows.map((row) => [row.ehr_appointment_id, row.appointment_id]));
}

interface Earlier {
  readonly subject: string;
  readonly care_unit_id: string;
  /** In the order of writing. */
  readonly sequence: number;
  readonly occurred_at: Date;
  readonly data: AppointmentEventData;
}

/** By subject, the newest first. */
async function eventsAbout(
  db: Db | Tx,
  emr: string,
  subjects: readonly string[],
): Promise<ReadonlyMap<string, Earlier[]>> {
  const { rows } = await sql<Earlier>`
    SELECT event.subject, event.care_unit_id, event.sequence, event.occurred_at, event.data
    FROM unnest(${subjects}::text[]) AS wanted (subject), LATERAL (
      SELECT subject, care_unit_id, occurred_at, data, sequence FROM events
      WHERE emr = ${emr} AND subject = wanted.subject AND type LIKE 'appointment.%'
      ORDER BY sequence DESC LIMIT ${mostEvents}) AS event
    ORDER BY event.sequence DESC`.execute(db);
  return Map.groupBy(rows, ({ subject }) => subject);
}
