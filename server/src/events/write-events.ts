import { type RawBuilder, sql } from 'kysely';
import type { Db, Tx } from '../db/kysely.ts';
import type { NewEvent } from './new-event.ts';

/**
 * Adds events to a statement that changes one row and returns its `id`: they are written by the same statement, if it
 * matched the row. So an event costs no round trip and is never lost or invented. Returns the `id`, if there was one.
 *
 * @param events from `eventsText`
 */
export function withEvents(statement: RawBuilder<{ id: string }>, events: string): RawBuilder<{ id: string }> {
  return sql`
    WITH changed AS (${statement}), written AS (
      INSERT INTO events (type, emr, care_unit_id, subject, data, is_observed)
      SELECT event ->> 'type', event ->> 'emr', event ->> 'care_unit_id', event ->> 'subject', event -> 'data',
        coalesce((event ->> 'is_observed')::boolean, false)
      FROM jsonb_array_elements(${events}::jsonb) WITH ORDINALITY AS it (event, place), changed
      ORDER BY place)
    SELECT id FROM changed`;
}

/** Events as JSON text, for `withEvents`. */
export function eventsText(events: readonly NewEvent[]): string {
  return JSON.stringify(
    events.map(({ careUnitId, isObserved, ...event }) => ({
      ...event,
      care_unit_id: careUnitId,
      is_observed: isObserved,
    })),
  );
}

/** Writes events in the transaction of the change that they report. */
export async function writeEvents(tx: Db | Tx, events: readonly NewEvent[]): Promise<void> {
  if (events.length > 0) await withEvents(sql`SELECT '' AS id`, eventsText(events)).execute(tx);
}
