import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../db/kysely.ts';
import { briefly } from '../db/time-limit.ts';
import { retryTransaction } from '../db/transactions.ts';
import { lastPosition } from './positions.ts';
import { storedEventColumns } from './stored-event.ts';

/** Batch size. After a full batch, the next one follows at once. */
const atOnce = 500;

/** A condition on `events`. */
export const isUnpublished = sql<boolean>`position IS NULL`;

/**
 * Gives committed events their positions, in the order of writing. A transaction can commit later than one that wrote after
 * it, so a reader that follows the order of writing can miss an event. One process at a time publishes, so no position
 * appears before a lower one. Returns whether there may be more.
 *
 * One statement does it all, and returns little: the database ends it also if this process freezes meanwhile, so no process
 * can keep the others from publishing. If another one is publishing, it does nothing.
 *
 * @param also CTEs that change data, run with it. The CTE `published` has the events, as `StoredEvent`
 */
export function publishEvents(db: Db, also: RawBuilder<unknown>): Promise<boolean> {
  // Events wait no longer for a connection that fell silent. A repeated round finds what is published.
  return briefly(async () => {
    const waiting = await sql`SELECT FROM events WHERE ${isUnpublished} LIMIT 1`.execute(db);
    if (waiting.rows.length === 0) return false;
    return retryTransaction(async () => {
      const { rows } = await sql<{ count: number }>`
        ${publication()}, ${also} SELECT count(*)::int AS count FROM placed`.execute(db);
      // Late events leave a batch smaller. The next round finds what is left.
      return rows[0]?.count === atOnce;
    });
  });
}

/**
 * A condition on `due`: the event must not follow the cancellation of its appointment in its care unit, and is deleted. Concurrent writes
 * can end in another order than the EHR performed them, and several cancellations can succeed. So an event whose write
 * began before the cancellation was reported, or within a minute after it, happened before the cancellation or repeats it,
 * unless the EHR shows that staff have booked the appointment again. An event of a later write shows the same.
 */
const isLate = sql<boolean>`
  due.type LIKE 'appointment.%' AND EXISTS (
    SELECT FROM events AS earlier
    WHERE earlier.emr = due.emr AND earlier.subject = due.subject AND earlier.care_unit_id = due.care_unit_id
      AND earlier.type = 'appointment.cancelled'
      AND (earlier.position IS NOT NULL OR earlier.sequence < due.sequence)
      AND CASE WHEN due.is_observed THEN due.type <> 'appointment.booked'
        ELSE due.began_at < earlier.occurred_at + interval '1 minute' END
      AND NOT EXISTS (
        SELECT FROM events AS again
        WHERE again.emr = due.emr AND again.subject = due.subject AND again.care_unit_id = due.care_unit_id
          AND again.sequence > earlier.sequence
          AND again.sequence < due.sequence AND CASE WHEN again.is_observed THEN again.type = 'appointment.booked'
            ELSE again.began_at >= earlier.occurred_at + interval '1 minute' END))`;

/**
 * A condition on `due`: the event repeats a booking that was read from the EHR before its write ended, for example
 * because the EHR made it late. Such an event is deleted.
 */
const isRepeated = sql<boolean>`
  due.type = 'appointment.booked' AND NOT due.is_observed AND EXISTS (
    SELECT FROM events AS earlier
    WHERE earlier.emr = due.emr AND earlier.subject = due.subject AND earlier.care_unit_id = due.care_unit_id
      AND earlier.type = due.type AND earlier.is_observed
      AND earlier.sequence < due.sequence AND due.began_at < earlier.occurred_at)`;

/** Time and resource after an event, in the form of `previous`. */
function placeOf(event: 'earlier' | 'last'): RawBuilder<object> {
  const data = sql.ref(`${event}.data`);
  return sql`jsonb_build_object('start', ${data} -> 'start', 'end', ${data} -> 'end', 'resource_id', ${data} -> 'resource_id')`;
}

/** A condition on `earlier`: it says where the appointment of `due` was while, or just before, the write of `due` ran. */
const isJustBefore = sql<boolean>`
  earlier.emr = due.emr AND earlier.subject = due.subject AND earlier.care_unit_id = due.care_unit_id
  AND earlier.type LIKE 'appointment.%' AND earlier.sequence < due.sequence AND jsonb_typeof(earlier.data -> 'start') = 'string'
  AND earlier.occurred_at > due.began_at - interval '1 minute'`;

/**
 * The data of `due` as it is published. A request reads the appointment before it changes it, and another one can change it in
 * between: then both have read the same `previous`. If the time that `due` names was changed by an event written before it, and
 * not long before its write began, then it was the place that the last such event left which `due` has changed. Otherwise
 * `due` has read a change by staff that no event says. `changed` is empty if the other request has made the same change.
 */
const publishedData = sql<object>`
  CASE WHEN due.type = 'appointment.updated' AND NOT due.is_observed THEN coalesce((
    SELECT due.data || jsonb_build_object('previous', ${placeOf('last')}, 'changed', to_jsonb(ARRAY(
        SELECT field FROM unnest(ARRAY['start', 'end', 'resource_id', 'comment']) AS field
        WHERE CASE WHEN field = 'comment' THEN due.data -> 'changed' ? field ELSE due.data -> field <> last.data -> field END)))
    FROM (
      SELECT sequence, data FROM events AS earlier WHERE ${isJustBefore}
      ORDER BY sequence DESC LIMIT 1) AS last
    WHERE ${placeOf('last')} <> due.data -> 'previous' AND EXISTS (
      SELECT FROM events AS earlier WHERE ${isJustBefore} AND due.data -> 'previous' IN (
        earlier.data -> 'previous', CASE WHEN earlier.sequence < last.sequence THEN ${placeOf('earlier')} END))
  ), due.data) ELSE due.data END`;

/**
 * CTEs that give positions. `turn` is empty while another process publishes, and if one has published since the statement
 * began: the statement does not see those events as published.
 */
function publication(): RawBuilder<unknown> {
  return sql`
    WITH turn AS MATERIALIZED (
      SELECT position AS before FROM event_positions WHERE name = 'published' AND position = ${lastPosition('published')}
      FOR UPDATE SKIP LOCKED
    ), due AS MATERIALIZED (
      SELECT id, emr, care_unit_id, subject, type, sequence, data, is_observed, began_at FROM events
      WHERE position IS NULL AND EXISTS (SELECT FROM turn) ORDER BY sequence LIMIT ${atOnce} FOR UPDATE
    ), checked AS MATERIALIZED (
      SELECT id, sequence, ${isLate} OR ${isRepeated} AS is_late, ${publishedData} AS data FROM due
    ), placed AS MATERIALIZED (
      SELECT id, data, row_number() OVER (ORDER BY sequence) AS place FROM checked WHERE NOT is_late),
    removed AS (DELETE FROM events USING checked WHERE events.id = checked.id AND is_late),
    counted AS (
      UPDATE event_positions SET position = before + placed.count FROM turn, (SELECT count(*) FROM placed) AS placed
      WHERE name = 'published'),
    published AS (
      UPDATE events SET position = turn.before + placed.place, data = placed.data FROM placed, turn WHERE events.id = placed.id
      RETURNING ${storedEventColumns})`;
}
