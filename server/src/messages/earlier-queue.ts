import { sql } from 'kysely';
import type { Db } from '../db/kysely.ts';

/*
 * Gateways of version 0.1.0 send messages by jobs of pg-boss, in the schema `pgboss`. They may run beside this one, and they
 * send what they have queued themselves.
 */

/** A condition on `messages`: a gateway of version 0.1.0 has queued it. */
export const isOfEarlierQueue = sql<boolean>`(state = 'queued' AND next_attempt_at IS NULL)`;

/** Seconds after which a gateway that works would have begun with a job. Each asks every second. */
const idleAfter = 3;
/** Seconds after which a gateway that works would have taken the job of a killed worker. Its time-out is 20 seconds. */
const lostAfter = 25;
const atOnce = 500;

/**
 * Takes over messages that a gateway of version 0.1.0 has queued and does not send: it was stopped, or killed. Their jobs are
 * deleted, so that each message is sent by one of the two queues.
 */
export async function adoptMessages(db: Db): Promise<void> {
  // Queued again by the console or the command line: no gateway has created the job.
  await sql`
    UPDATE messages SET needs_job = false, next_attempt_at = now(), attempts = 0 WHERE id IN (
      SELECT id FROM messages WHERE ${isOfEarlierQueue} AND needs_job FOR UPDATE SKIP LOCKED)`.execute(db);
  if (!(await hasJobs(db))) return;
  await sql`
    WITH left_behind AS MATERIALIZED (
      SELECT message.id, job.name AS job_name, job.id AS job_id,
        CASE WHEN job.state = 'created' THEN 0 ELSE job.retry_count + 1 END AS attempts
      FROM messages AS message JOIN pgboss.job AS job ON job.data ->> 'messageId' = message.id::text
      WHERE message.state = 'queued' AND message.next_attempt_at IS NULL
        AND CASE job.state::text
          WHEN 'active' THEN job.started_on < now() - make_interval(secs => ${lostAfter})
          WHEN 'created' THEN job.start_after < now() - make_interval(secs => ${idleAfter})
          WHEN 'retry' THEN job.start_after < now() - make_interval(secs => ${idleAfter})
          ELSE false END
      LIMIT ${atOnce} FOR UPDATE SKIP LOCKED
    ), deleted AS (
      DELETE FROM pgboss.job USING left_behind WHERE job.name = job_name AND job.id = job_id)
    UPDATE messages SET next_attempt_at = greatest(now(), not_before), attempts = left_behind.attempts
    FROM left_behind WHERE messages.id = left_behind.id`.execute(db);
}

async function hasJobs(db: Db): Promise<boolean> {
  const { rows } = await sql<{ exists: boolean }>`SELECT to_regclass('pgboss.job') IS NOT NULL AS exists`.execute(db);
  return rows[0]?.exists ?? false;
}
