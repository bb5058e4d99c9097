import { sql } from 'kysely';
import type { Db } from '../db/kysely.ts';
import type { Channel } from '../db/tables/messages.ts';

/**
 * Codes of Twilio about one message, its number or its text: https://www.twilio.com/docs/api/errors. The number can get no SMS
 * (21211, 21214, 21217, 21265, 21266, 21268, 21604, 21612, 21614, 21635, 30003 to 30006, 30011) or wants none (21610); the text is
 * refused (21602, 21605, 21617, 30007, 30019, 30038, 30039) or was lost on its way (30008 to 30010, 30012, 30036). Every other code
 * is about the account, its settings or the sender, such as 21408, 21606, 21659, 30002 or 30034: the next message meets the same.
 */
const ofTwilioMessage = '21(211|214|217|265|266|268|602|604|605|610|612|614|617|635)|300(0[3-9]|10|11|12|19|36|38|39)';

/**
 * Reasons that say nothing about the messages to other patients: this number, this text, or no attempt at all. Every other reason
 * is a fault of the provider or of the account there: silence, 5xx, a certificate, credentials or a sender that it refuses.
 */
const notOfProvider = String.raw`^(expired|no_sender|unreadable|address_invalid|undelivered|elks_failed|http_(400|413|422)|recipient_rejected_\d+|twilio_(${ofTwilioMessage}))$`;
const pattern = new RegExp(notOfProvider);

/** Whether the provider, or the account there, is out of order: other messages meet the same. */
export function isFaultOfProvider(reason: string): boolean {
  return !pattern.test(reason);
}

/** As `isFaultOfProvider`, for a row of `messages`. */
const isFault = sql<boolean>`coalesce(failure_reason !~ ${notOfProvider}, false)`;

/** A provider that answers nothing but faults. */
export interface FailingProvider {
  readonly channel: Channel;
  /** Of the latest of its faults. */
  readonly failureReason: string;
  /** When the first of these messages was queued. */
  readonly since: Date;
}

/**
 * The channels whose provider answers nothing but faults: a message has failed for one, or has not left within a minute, and since
 * then the provider has taken no other and refused none for a reason of that message.
 */
export async function listFailingProviders(db: Db): Promise<FailingProvider[]> {
  const { rows } = await sql<FailingProvider>`
    WITH failed AS MATERIALIZED (
      SELECT channel, failure_reason, coalesce(queued_again_at, created_at) AS queued_at, completed_at AS seen_at,
        ${isFault} AS is_fault
      FROM messages WHERE state = 'failed' AND completed_at > now() - interval '24 hours'
    ), faulty AS (
      SELECT channel, failure_reason, queued_at, seen_at FROM failed WHERE is_fault
      UNION ALL
      SELECT channel, failure_reason, coalesce(queued_again_at, created_at), coalesce(queued_again_at, created_at)
      FROM messages WHERE state = 'queued' AND delayed_at IS NOT NULL AND ${isFault}
    ), worked AS (
      SELECT channel, greatest(
        (SELECT max(completed_at) FROM messages
          WHERE state = 'sent' AND completed_at > now() - interval '48 hours' AND messages.channel = channels.channel),
        (SELECT max(seen_at) FROM failed WHERE NOT is_fault AND failed.channel = channels.channel)) AS at
      FROM (SELECT DISTINCT channel FROM faulty) AS channels
    )
    SELECT channel, (array_agg(failure_reason ORDER BY seen_at DESC))[1] AS "failureReason", min(queued_at) AS since
    FROM faulty JOIN worked USING (channel) WHERE seen_at > coalesce(worked.at, '-infinity')
    GROUP BY channel ORDER BY channel DESC`.execute(db);
  return rows;
}
