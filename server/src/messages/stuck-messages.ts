import { sql } from 'kysely';
import type { Db } from '../db/kysely.ts';
import type { Channel } from '../db/tables/messages.ts';
import { isDelayed } from './delivery-state.ts';
import { canBeSentAgain, hasFailedLately } from './failed.ts';

/**
 * - `delayed`: has not left within a minute, and is tried again
 * - `failed`: can be sent again
 * - `lost`: can no longer be sent, and no other message of its channel has left since
 */
type StuckState = 'delayed' | 'failed' | 'lost';

/** Messages of a channel that have not left for the same cause. */
export interface StuckMessages {
  readonly channel: Channel;
  readonly state: StuckState;
  /** Why the last attempt failed. Null: none has failed. */
  readonly failureReason: string | null;
  readonly count: number;
  /** When the first of them was queued. */
  readonly since: Date;
  readonly patients: number;
}

/** Reasons that say nothing about the messages to other patients. Codes of Twilio from 21000 are about one message. */
const isAboutOnePatient = sql<boolean>`
  failure_reason ~ '^(address_invalid|recipient_rejected|undelivered|elks_failed|unreadable|twilio_(21\\d{3}|3\\d{4})$)'`;

const isLost = sql<boolean>`(${hasFailedLately} AND (${isAboutOnePatient}) IS NOT TRUE AND NOT EXISTS (
  SELECT FROM messages AS later
  WHERE later.channel = messages.channel AND later.state = 'sent' AND later.completed_at > messages.completed_at))`;

/** The messages that failed or have not left within a minute, by cause. Those that patients still wait for come first. */
export async function groupStuckMessages(db: Db): Promise<StuckMessages[]> {
  const { rows } = await sql<StuckMessages>`
    SELECT channel, stuck AS state, "failureReason", count(*)::int AS count, min(since) AS since,
      count(DISTINCT patient)::int AS patients
    FROM (
      SELECT channel, failure_reason AS "failureReason", coalesce(queued_again_at, created_at) AS since,
        CASE WHEN ${isDelayed} THEN 'delayed' WHEN ${canBeSentAgain} THEN 'failed' ELSE 'lost' END AS stuck,
        coalesce((SELECT encode(patient_hash, 'hex') FROM confirmations WHERE id = messages.confirmation_id),
          confirmation_id::text) AS patient
      FROM messages WHERE ${isDelayed} OR (${canBeSentAgain}) OR ${isLost}) AS found
    GROUP BY channel, stuck, "failureReason"
    ORDER BY array_position(ARRAY['failed', 'delayed', 'lost'], stuck), since`.execute(db);
  return rows;
}
