import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../db/kysely.ts';
import type { ConfirmationKind } from '../db/tables/confirmations.ts';
import type { Channel } from '../db/tables/messages.ts';
import { isDelayed } from './delivery-state.ts';
import { canBeSentAgain, hasFailedLately } from './failed.ts';
import { queueNames } from './queues.ts';

/**
 * - `waiting`: no attempt yet
 * - `retrying`: at least one attempt
 * - `delayed`: has not left within a minute, with or without attempts
 * - `failed`: no further attempts
 */
export type OpenState = 'waiting' | 'retrying' | 'delayed' | 'failed';

/** A message that is queued, or that failed in the last 24 hours. Contains no personal data. */
export interface OpenMessage {
  readonly id: string;
  /** What its code confirms. Null: no longer known. */
  readonly kind: ConfirmationKind | null;
  readonly emr: string;
  readonly careUnitId: string;
  readonly channel: Channel;
  readonly appointmentId: string;
  readonly state: OpenState;
  /** When it was queued, or failed. */
  readonly since: Date;
  readonly ageSeconds: number;
  /**
   * Since it was queued. Includes one that is under way, and those that were skipped because the provider asked to wait. Null:
   * unknown.
   */
  readonly attempts: number | null;
  /** In the past: due, or under way. Null: none is scheduled. */
  readonly nextAttemptAt: Date | null;
  /** Why the last failed attempt failed: a fixed word or the provider's status code. Null: none has failed. */
  readonly failureReason: string | null;
  /** Whether it has failed and its code is still awaited. */
  readonly canBeSentAgain: boolean;
  /** When its code expires. */
  readonly expiresAt: Date;
}

/** What is said of messages of which no attempt has failed. */
export function noFailureText(state: OpenState): string {
  return state === 'waiting' ? 'no attempt yet' : 'no attempt has ended';
}

/** Open messages of a channel that are in the same state for the same cause. */
export interface OpenGroup extends Pick<OpenMessage, 'channel' | 'state' | 'failureReason' | 'since'> {
  readonly count: number;
  /** Those of them that can be sent again. */
  readonly sendable: number;
}

/**
 * Lists messages that are queued, or that failed in the last 24 hours: failed ones first, then late ones, each group together
 * and from the oldest.
 *
 * @param limit maximum number of messages. If omitted, all
 */
export async function listOpen(db: Db, limit?: number): Promise<OpenMessage[]> {
  const { rows } = await sql<OpenMessage>`
    SELECT *, floor(extract(epoch FROM clock_timestamp() - since))::int AS "ageSeconds" FROM (${await open(db)}) AS open
    ORDER BY ${urgency}, channel, "failureReason", since, id LIMIT ${limit ?? null}`.execute(db);
  return rows;
}

/** Groups what `listOpen` lists, in its order. */
export async function groupOpen(db: Db): Promise<OpenGroup[]> {
  const { rows } = await sql<OpenGroup>`
    SELECT channel, state, "failureReason", count(*)::int AS count,
      (count(*) FILTER (WHERE "canBeSentAgain"))::int AS sendable, min(since) AS since
    FROM (${await open(db)}) AS open GROUP BY channel, state, "failureReason"
    ORDER BY ${urgency}, channel, "failureReason"`.execute(db);
  return rows;
}

const urgency = sql`array_position(ARRAY['failed', 'delayed', 'retrying', 'waiting'], state)`;

async function open(db: Db): Promise<RawBuilder<unknown>> {
  return sql`
    SELECT id, emr, care_unit_id AS "careUnitId", channel, first_appointment_id AS "appointmentId",
      (SELECT kind FROM confirmations WHERE confirmations.id = messages.confirmation_id) AS kind,
      CASE WHEN state = 'failed' THEN 'failed' WHEN ${isDelayed} THEN 'delayed' WHEN job.attempts > 0 THEN 'retrying'
        ELSE 'waiting' END AS state,
      CASE state WHEN 'failed' THEN completed_at ELSE coalesce(queued_again_at, created_at) END AS since,
      CASE WHEN needs_job THEN 0 ELSE job.attempts END AS attempts,
      CASE state WHEN 'queued' THEN greatest(job.start_after, not_before, CASE WHEN needs_job THEN now() END) END
        AS "nextAttemptAt",
      failure_reason AS "failureReason", (${canBeSentAgain}) AS "canBeSentAgain", expires_at AS "expiresAt"
    FROM messages LEFT JOIN (${await latestJobs(db)}) AS job
      -- One that was queued again, and whose job a gateway is about to create, has only its former job.
      ON job.message_id = messages.id::text AND NOT needs_job
    WHERE state = 'queued' OR ${hasFailedLately}`;
}

/** pg-boss counts retries, so a started job has one attempt more. Before the first start of a gateway the table is missing. */
async function latestJobs(db: Db): Promise<RawBuilder<unknown>> {
  return (await hasJobs(db))
    ? sql`
        SELECT DISTINCT ON (data->>'messageId') data->>'messageId' AS message_id, start_after,
          CASE WHEN state = 'created' THEN 0 ELSE retry_count + 1 END AS attempts
        FROM pgboss.job WHERE name = ANY (${queueNames}::text[])
        ORDER BY data->>'messageId', created_on DESC`
    : sql`SELECT NULL AS message_id, NULL::timestamptz AS start_after, NULL::integer AS attempts`;
}

async function hasJobs(db: Db): Promise<boolean> {
  const { rows } = await sql<{ exists: boolean }>`SELECT to_regclass('pgboss.job') IS NOT NULL AS exists`.execute(db);
  return rows[0]?.exists ?? false;
}
