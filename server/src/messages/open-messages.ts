import { sql } from 'kysely';
import type { Db } from '../db/kysely.ts';
import type { ConfirmationKind } from '../db/tables/confirmations.ts';
import type { Channel } from '../db/tables/messages.ts';
import { isDelayed } from './delivery-state.ts';
import { canBeSentAgain, hasFailedLately } from './failed.ts';

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
  /** Since it was queued. Includes one that is under way. Null: unknown, since a gateway of version 0.1.0 has queued it. */
  readonly attempts: number | null;
  /** In the past: due. One that is under way is made again then, if its process is killed. Null: none is scheduled here. */
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
    SELECT *, floor(extract(epoch FROM clock_timestamp() - since))::int AS "ageSeconds" FROM (${open}) AS open
    ORDER BY ${urgency}, channel, "failureReason", since, id LIMIT ${limit ?? null}`.execute(db);
  return rows;
}

/** Groups what `listOpen` lists, in its order. */
export async function groupOpen(db: Db): Promise<OpenGroup[]> {
  const { rows } = await sql<OpenGroup>`
    SELECT channel, state, "failureReason", count(*)::int AS count,
      (count(*) FILTER (WHERE "canBeSentAgain"))::int AS sendable, min(since) AS since
    FROM (${open}) AS open GROUP BY channel, state, "failureReason"
    ORDER BY ${urgency}, channel, "failureReason"`.execute(db);
  return rows;
}

const urgency = sql`array_position(ARRAY['failed', 'delayed', 'retrying', 'waiting'], state)`;

const open = sql`
  SELECT id, emr, care_unit_id AS "careUnitId", channel, first_appointment_id AS "appointmentId",
    (SELECT kind FROM confirmations WHERE confirmations.id = messages.confirmation_id) AS kind,
    CASE WHEN state = 'failed' THEN 'failed' WHEN ${isDelayed} THEN 'delayed' WHEN attempts > 0 THEN 'retrying'
      ELSE 'waiting' END AS state,
    CASE state WHEN 'failed' THEN completed_at ELSE coalesce(queued_again_at, created_at) END AS since,
    attempts, next_attempt_at AS "nextAttemptAt", failure_reason AS "failureReason",
    (${canBeSentAgain}) AS "canBeSentAgain", expires_at AS "expiresAt"
  FROM messages WHERE state = 'queued' OR ${hasFailedLately}`;
