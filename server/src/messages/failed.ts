import { sql } from 'kysely';
import type { Db } from '../db/kysely.ts';
import type { Channel } from '../db/tables/messages.ts';
import { isUuid } from '../identifiers/uuid.ts';
import { isDelayed } from './delivery-state.ts';

/** A failed message whose code is still awaited. Contains no personal data. */
export interface FailedMessage {
  readonly id: string;
  readonly emr: string;
  readonly careUnitId: string;
  readonly channel: Channel;
  readonly appointmentId: string;
  /** A fixed word or the provider's status code. */
  readonly failureReason: string | null;
  readonly failedAt: Date;
  /** When its code expires. */
  readonly expiresAt: Date;
}

/** A condition on `messages`: the message has failed, and its code can still be used. */
export const canBeSentAgain = sql<boolean>`
  state = 'failed' AND sealed_content IS NOT NULL AND expires_at > clock_timestamp() AND EXISTS (
    SELECT FROM confirmation_items AS item
    WHERE item.confirmation_id = messages.confirmation_id AND item.state = 'pending')`;

/**
 * A condition on `messages`: the message has failed in the last 24 hours. A code lives for a day at most, so its expiry finds
 * them by an index, and those that were noticed late.
 */
export const hasFailedLately = sql<boolean>`
  (state = 'failed' AND expires_at > now() - interval '48 hours' AND completed_at > now() - interval '24 hours')`;

/**
 * It is as one that was queued a moment ago: it can be late again after another minute, and receipts of earlier attempts no
 * longer count.
 */
const queuedAgain = sql`
  state = 'queued', completed_at = NULL, failure_reason = NULL, not_before = NULL, delayed_at = NULL,
  queued_again_at = clock_timestamp(), next_attempt_at = now(), attempts = 0, receipt_hash = NULL`;

/** Lists failed messages that can be sent again, the oldest first. */
export async function listFailed(db: Db): Promise<FailedMessage[]> {
  const { rows } = await sql<FailedMessage>`
    SELECT id, emr, care_unit_id AS "careUnitId", channel, first_appointment_id AS "appointmentId",
      failure_reason AS "failureReason",
      completed_at AS "failedAt", expires_at AS "expiresAt"
    FROM messages WHERE ${canBeSentAgain} ORDER BY completed_at, id`.execute(db);
  return rows;
}

/** Counts messages that failed in the last 24 hours, and those of them that can be sent again. */
export async function countFailed(db: Db): Promise<{ count: number; sendable: number }> {
  const { rows } = await sql<{ count: number; sendable: number }>`
    SELECT count(*)::int AS count, (count(*) FILTER (WHERE ${canBeSentAgain}))::int AS sendable
    FROM messages WHERE ${hasFailedLately}`.execute(db);
  return rows[0] ?? { count: 0, sendable: 0 };
}

/**
 * Queues all failed messages again that can be sent again. Returns their number.
 *
 * @param channel if omitted, those of all channels
 */
export async function sendAllAgain(db: Db, channel?: Channel): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    UPDATE messages SET ${queuedAgain}
    WHERE ${canBeSentAgain} AND channel = coalesce(${channel ?? null}, channel)`.execute(db);
  return Number(numAffectedRows);
}

/** Queues a failed message again; a gateway sends it within seconds. Returns `false` if no such message can be sent again. */
export async function sendAgain(db: Db, id: string): Promise<boolean> {
  if (!isUuid(id)) return false;
  const { numAffectedRows } = await sql`
    UPDATE messages SET ${queuedAgain}
    WHERE id = ${id} AND ${canBeSentAgain}`.execute(db);
  return numAffectedRows === 1n;
}

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
