import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../db/kysely.ts';
import type { Channel } from '../db/tables/messages.ts';
import { canBeSentAgain } from './failed.ts';

/** A message that is queued, or failed and can be sent again. Contains no personal data. */
export interface OpenMessage {
  readonly id: string;
  readonly emr: string;
  readonly careUnitId: string;
  readonly channel: Channel;
  readonly appointmentId: string;
  /** `waiting`: no attempt yet. `retrying`: at least one attempt. `failed`: no further attempts. */
  readonly state: 'waiting' | 'retrying' | 'failed';
  /** Includes attempts that were skipped because the provider asked to wait. Null: unknown. */
  readonly attempts: number | null;
  /** Null: none is scheduled. */
  readonly nextAttemptAt: Date | null;
  readonly ageSeconds: number;
  /** Why the last failed attempt failed: a fixed word or the provider's status code. Null: none has failed. */
  readonly failureReason: string | null;
  /** When its code expires. */
  readonly expiresAt: Date;
}

/**
 * Lists failed messages that can be sent again, then queued ones, each from the oldest.
 *
 * @param limit maximum number of messages. If omitted, all
 */
export async function listOpen(db: Db, limit?: number): Promise<OpenMessage[]> {
  const { rows } = await sql<OpenMessage>`
    SELECT id, emr, care_unit_id AS "careUnitId", channel, first_appointment_id AS "appointmentId",
      CASE WHEN state = 'failed' THEN 'failed' WHEN job.attempts > 0 THEN 'retrying' ELSE 'waiting' END AS state,
      job.attempts,
      CASE state WHEN 'queued' THEN greatest(job.start_after, not_before) END AS "nextAttemptAt",
      floor(extract(epoch FROM clock_timestamp() - created_at))::int AS "ageSeconds", 
      failure_reason AS "failureReason", expires_at AS "expiresAt"
    FROM messages LEFT JOIN (${await latestJobs(db)}) AS job ON job.message_id = messages.id::text
    WHERE state = 'queued' OR ${canBeSentAgain}
    ORDER BY state <> 'failed', created_at, id LIMIT ${limit ?? null}`.execute(db);
  return rows;
}

/** pg-boss counts retries, so a started job has one attempt more. Before the first start of a gateway the table is missing. */
async function latestJobs(db: Db): Promise<RawBuilder<unknown>> {
  const { rows } = await sql<{ exists: boolean }>`SELECT to_regclass('pgboss.job') IS NOT NULL AS exists`.execute(db);
  return rows[0]?.exists
    ? sql`
        SELECT DISTINCT ON (data->>'messageId') data->>'messageId' AS message_id, start_after,
          CASE WHEN state = 'created' THEN 0 ELSE retry_count + 1 END AS attempts
        FROM pgboss.job WHERE name = 'messages'
        ORDER BY data->>'messageId', created_on DESC`
    : sql`SELECT NULL AS message_id, NULL::timestamptz AS start_after, NULL::integer AS attempts`;
}
