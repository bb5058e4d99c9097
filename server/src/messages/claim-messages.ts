import { sql } from 'kysely';
import type { Db } from '../db/kysely.ts';
import type { Channel } from '../db/tables/messages.ts';
import { briefly } from '../db/time-limit.ts';
import type { ReceiptUrls } from './receipt-urls.ts';

/** Seconds. A message is claimed again so long after its process was killed, or after the answer to its claim was lost. */
const claimSeconds = 4;

/** When a claim that is made or renewed now expires. A later attempt is one that waits. */
export const claimEnd = sql<Date>`clock_timestamp() + make_interval(secs => ${claimSeconds})`;

/** A condition on `messages`: an attempt is due. One that is claimed is due when its claim expires. */
export const isDue = sql<boolean>`(state = 'queued' AND next_attempt_at <= now())`;

/** A queued message that this process makes an attempt at. */
export interface ClaimedMessage {
  readonly id: string;
  readonly confirmation_id: string;
  readonly emr: string;
  readonly care_unit_id: string;
  readonly channel: Channel;
  readonly sealed_content: Buffer | null;
  readonly first_appointment_id: string;
  readonly failure_reason: string | null;
  readonly delivered_at: Date | null;
  /** Attempts that were started, with this one. Identifies the claim. */
  readonly attempts: number;
  /** When the code expires, by `performance.now()`. */
  readonly expires: number;
  /** When another process may have claimed the message, by `performance.now()`. */
  readonly claimEnds: number;
  /** Where the provider should report what becomes of this attempt. */
  readonly receiptUrl: string | undefined;
}

/**
 * Claims queued messages of a channel that are due. A queued row is the newest message of its confirmation and has not been
 * withdrawn; one that is being withdrawn is skipped. Receipts of earlier attempts no longer count.
 *
 * @param inHand ids of messages that this process is still sending: it takes over none of them from itself
 */
export async function claimMessages(
  db: Db,
  { channel, limit, inHand }: { readonly channel: Channel; readonly limit: number; readonly inHand: Iterable<string> },
  receiptUrls: ReceiptUrls | undefined,
): Promise<readonly ClaimedMessage[]> {
  type Row = Omit<ClaimedMessage, 'expires' | 'claimEnds' | 'receiptUrl'> & { seconds_left: number; number: number };
  const receipts = receiptUrls?.channels.has(channel) ? Array.from({ length: limit }, receiptUrls.create) : [];
  const began = performance.now();
  const claim = sql<Row>`
    WITH due AS MATERIALIZED (
      SELECT id FROM messages WHERE ${isDue} AND channel = ${channel} AND id <> ALL (${[...inHand]}::uuid[])
      ORDER BY next_attempt_at LIMIT ${limit} FOR UPDATE SKIP LOCKED
    ), numbered AS (
      SELECT id, (row_number() OVER ())::int AS number FROM due)
    UPDATE messages SET attempts = coalesce(attempts, 0) + 1, next_attempt_at = ${claimEnd},
      receipt_hash = (${receipts.map(({ hash }) => hash)}::bytea[])[number]
    FROM numbered WHERE messages.id = numbered.id
    RETURNING messages.id, confirmation_id, emr, care_unit_id, channel, sealed_content, first_appointment_id,
      failure_reason, delivered_at, attempts, number,
      extract(epoch FROM expires_at - clock_timestamp())::float8 AS seconds_left`;
  // A connection that fell silent keeps others waiting no longer than a claim lasts.
  const { rows } = await briefly(() => claim.execute(db));
  const now = performance.now();
  return rows.map(({ seconds_left, number, ...message }) => ({
    ...message,
    expires: now + seconds_left * 1000,
    claimEnds: began + claimSeconds * 1000,
    receiptUrl: receipts[number - 1]?.url,
  }));
}

/** Extends the claims of messages that this process is sending, unless another one has claimed them. */
export async function renewClaims(db: Db, claimed: readonly ClaimedMessage[]): Promise<void> {
  // One that waits for its next attempt, since a moment ago, is left alone.
  const renewal = sql`
    UPDATE messages SET next_attempt_at = ${claimEnd}
    FROM unnest(${claimed.map(({ id }) => id)}::uuid[], ${claimed.map((it) => it.attempts)}::int[]) AS mine (id, attempts)
    WHERE messages.id = mine.id AND messages.attempts = mine.attempts AND state = 'queued'
      AND next_attempt_at <= ${claimEnd}`;
  await briefly(() => renewal.execute(db));
}

/** Ends a claim: the next attempt is in so many seconds. Nothing changes if another process has claimed the message. */
export async function postpone(
  db: Db,
  { id, attempts }: ClaimedMessage,
  seconds: number,
  failureReason: string | null,
): Promise<void> {
  const end = sql`
    UPDATE messages SET next_attempt_at = clock_timestamp() + make_interval(secs => ${seconds}),
      failure_reason = coalesce(${failureReason}, failure_reason)
    WHERE id = ${id} AND attempts = ${attempts} AND state = 'queued'`;
  await briefly(() => end.execute(db));
}
