import { type RawBuilder, sql } from 'kysely';
import { mayExpire } from '../appointments/expiry/expire-overdue.ts';
import type { Db } from '../db/kysely.ts';
import { briefly } from '../db/time-limit.ts';
import { inEffect, type PausedEhr } from '../ehr/pauses.ts';
import { storedRevision } from '../ehr/stored/stored-emrs.ts';
import { isUnpublished } from '../events/publish-events.ts';
import { isDue } from '../messages/claim-messages.ts';
import { hasBecomeLate } from '../messages/delayed.ts';
import { isOfEarlierQueue } from '../messages/earlier-queue.ts';
import { isDueToLook } from '../timeslots/watches/store.ts';
import { hasDueDeliveries } from '../webhooks/endpoint-store.ts';
import { isHeartbeatDue } from '../webhooks/heartbeats.ts';
import { isReplaying } from '../webhooks/replay.ts';

/** What background jobs have to do now. */
export interface DueWork {
  /** EHRs with a hold that has expired, or a write that is due. */
  readonly ehrs: ReadonlySet<string>;
  /** EHRs whose changes are to be read, or of which some that were read have no event yet. */
  readonly changes: ReadonlySet<string>;
  /** Events without a position. */
  readonly events: boolean;
  readonly replays: boolean;
  readonly deliveries: boolean;
  /** Of Subscriptions. */
  readonly heartbeats: boolean;
  readonly messages: boolean;
  readonly watches: boolean;
  /** Messages that have not left, whether or not an attempt is due. */
  readonly queuedMessages: boolean;
  /** Messages that a gateway of version 0.1.0 has queued. */
  readonly earlierMessages: boolean;
  readonly lateMessages: boolean;
  /** The pauses of EHRs that are in effect. */
  readonly pauses: readonly PausedEhr[];
  /** See `storedRevision`. */
  readonly storedRevision: string | null;
}

interface Row extends Omit<DueWork, 'ehrs' | 'changes' | 'pauses'> {
  readonly ehrs: readonly string[];
  readonly changes: readonly string[];
  /** Times as ISO 8601. */
  readonly pauses: readonly { readonly emr: string; readonly since: string; readonly until: string | null }[];
}

/**
 * Reads what is due, for all jobs and EHRs by one statement, so that an idle gateway costs little. It finds what any gateway
 * has written, since each row says itself that it is due.
 *
 * Scalar subqueries with a limit, because PostgreSQL may hash the whole table for EXISTS.
 */
export function readDueWork(db: Db, ehrs: readonly string[]): Promise<DueWork> {
  const all = sql`unnest(${[...ehrs]}::text[]) AS ehr (id)`;
  // As publishing, the look waits no longer for a connection that fell silent.
  return briefly(async () => {
    const { rows } = await sql<Row>`
      SELECT ${anyOf('events', isUnpublished)} AS events,
        ${anyOf('webhook_endpoints', isReplaying)} AS replays,
        ${anyOf('webhook_endpoints', hasDueDeliveries)} AS deliveries,
        ${anyOf('webhook_endpoints', isHeartbeatDue)} AS heartbeats,
        ${anyOf('messages', isDue)} AS messages,
        ${anyOf('timeslot_watches', isDueToLook)} AS watches,
        ${anyOf('messages', isQueued)} AS "queuedMessages",
        ${anyOf('messages', isOfEarlierQueue)} AS "earlierMessages",
        ${anyOf('messages', hasBecomeLate)} AS "lateMessages",
        ARRAY(SELECT ehr.id FROM ${all}
          WHERE (SELECT true FROM operations WHERE emr = ehr.id AND next_attempt_at <= now() LIMIT 1)
            OR (SELECT true FROM confirmation_items AS item
              WHERE item.emr = ehr.id AND ${mayExpire} AND item.state IN ('pending', 'expiring')
                AND (SELECT expires_at FROM confirmations WHERE id = item.confirmation_id) <= now() LIMIT 1)) AS ehrs,
        ARRAY(SELECT ehr.id FROM ${all}
          WHERE coalesce((SELECT next_read_at <= now() FROM ehr_change_feeds WHERE emr = ehr.id), true)
            OR (SELECT true FROM ehr_changes WHERE emr = ehr.id LIMIT 1)) AS changes,
        (SELECT coalesce(json_agg(json_build_object('emr', emr, 'since', paused_at, 'until', paused_until)), '[]')
          FROM ehr_pauses WHERE ${inEffect}) AS pauses,
        ${storedRevision} AS "storedRevision"`.execute(db);
    const [row] = rows;
    if (!row) throw new Error('A SELECT without FROM has one row');
    const pauses = row.pauses.map(({ emr, since, until }) => ({
      emr,
      since: new Date(since),
      until: until === null ? null : new Date(until),
    }));
    return { ...row, ehrs: new Set(row.ehrs), changes: new Set(row.changes), pauses };
  });
}

const isQueued = sql<boolean>`state = 'queued'`;

function anyOf(table: string, condition: RawBuilder<boolean>): RawBuilder<boolean> {
  return sql`coalesce((SELECT true FROM ${sql.table(table)} WHERE ${condition} LIMIT 1), false)`;
}
