import { type RawBuilder, sql } from 'kysely';
import type { Db, Tx } from '../db/kysely.ts';
import type { NewEvent } from './new-event.ts';

/** A row that the statement has changed. */
export interface Changed {
  readonly id: string;
  /** When the write began that made the change, or the wait for the code. */
  readonly began_at: Date;
}

/**
 * Adds events to a statement that changes rows and returns a `Changed` for each. The statement then also writes the events
 * of the rows that it has changed, so an event costs no round trip, and exists exactly if the change does. Returns the ids.
 *
 * @param events from `eventsText`
 * @param alsoWritten another INSERT of the same statement
 */
export function withEvents(
  statement: RawBuilder<Changed>,
  events: string,
  alsoWritten?: RawBuilder<unknown>,
): RawBuilder<{ id: string }> {
  return sql`
    WITH changed AS (${statement}), written AS (
      INSERT INTO events (type, emr, care_unit_id, subject, data, client_id, sealed_appointment, is_observed, began_at)
      SELECT event ->> 'type', event ->> 'emr', event ->> 'care_unit_id', event ->> 'subject', event -> 'data', event ->> 'client_id',
        decode(event ->> 'sealed_appointment', 'base64'), coalesce((event ->> 'is_observed')::boolean, false), began_at
      FROM jsonb_array_elements(${events}::jsonb) WITH ORDINALITY AS it (event, place)
      JOIN changed ON changed.id::text = event ->> 'of'
      ORDER BY place)${alsoWritten ? sql`, also_written AS (${alsoWritten})` : sql``}
    SELECT id FROM changed`;
}

/** Events as JSON text, for `withEvents`, each with the `id` of the row whose change it reports. */
export function eventsText(changes: readonly { readonly id: string; readonly events: readonly NewEvent[] }[]): string {
  const rows = changes.flatMap(({ id, events }) =>
    events.map(({ careUnitId, clientId, sealedAppointment, isObserved, ...event }) => ({
      of: id,
      ...event,
      care_unit_id: careUnitId,
      client_id: clientId,
      sealed_appointment: sealedAppointment?.toString('base64'),
      is_observed: isObserved,
    })),
  );
  return JSON.stringify(rows);
}

/** Writes events in the transaction of the change that they report. The change began with the transaction. */
export async function writeEvents(tx: Db | Tx, events: readonly NewEvent[]): Promise<void> {
  const now = sql<Changed>`SELECT '' AS id, clock_timestamp() AS began_at`;
  if (events.length > 0) await withEvents(now, eventsText([{ id: '', events }])).execute(tx);
}
