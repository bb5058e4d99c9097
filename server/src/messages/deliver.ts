import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import type { Logger } from 'pino';
import type { Db } from '../db/kysely.ts';
import { briefly } from '../db/time-limit.ts';
import { eventsText, withEvents } from '../events/write-events.ts';
import { describeError } from '../log/describe-error.ts';
import type { KeyRing } from '../secrets/key-ring.ts';
import { type ClaimedMessage, postpone } from './claim-messages.ts';
import { openContent } from './content.ts';
import { messageFailureText } from './failure-text.ts';
import type { MessageMetrics } from './metrics.ts';
import { isFaultOfProvider } from './provider-faults.ts';
import { aboutMessage, messageEvent } from './reported-message.ts';
import { type OutgoingMessage, PermanentFailure, type Senders, TemporaryFailure } from './sender.ts';
import type { SendingLog } from './sending-log.ts';
import { compose } from './texts.ts';

/** Milliseconds. Time-out of a provider. */
const sendTimeout = 10_000;
/** Seconds between two attempts, unless the provider asks to wait longer. */
const longestPause = 60;

interface Dependencies {
  readonly db: Db;
  readonly keys: KeyRing;
  readonly senders: Senders;
  readonly metrics: MessageMetrics;
  readonly log: Logger;
  readonly sending: SendingLog;
}

/**
 * Makes one attempt to send a message. Holds no database connection while the provider is called. Does not reject: what
 * could not be recorded is tried again.
 */
export async function deliver(dependencies: Dependencies, message: ClaimedMessage): Promise<void> {
  const { db, log } = dependencies;
  try {
    const outcome = await attempt(dependencies, message);
    if (outcome === 'left to others') return;
    if (outcome === 'sent' || 'failure' in outcome) await settle(db, message, outcome);
    else await postpone(db, message, pause(message, outcome.asked), outcome.reason);
  } catch (error) {
    // Log no message: a database error can quote a row.
    log.error({ message_id: message.id, cause: describeError(error) }, 'message could not be processed');
    // Otherwise the claim expires.
    await postpone(db, message, pause(message), null).catch(() => undefined);
  }
}

const secondsLeft = ({ expires }: ClaimedMessage) => (expires - performance.now()) / 1000;

/**
 * Seconds until the next attempt: 1–2, 2–4, … up to a minute, and at most half of the time that is left. So attempts come
 * closer together towards the end of the code, and none is after it.
 *
 * @param asked how long the provider asks to wait, which is less than the time that is left
 */
function pause(message: ClaimedMessage, asked = 0): number {
  const usual = Math.min(2 ** Math.min(message.attempts - 1, 10) * (1 + Math.random()), longestPause);
  return Math.max(asked, Math.min(usual, Math.max(1, secondsLeft(message) / 2)));
}

/** `failure`: a fixed word or the provider's status code. For an expired message: why it had not been sent. */
type Settled = 'sent' | { readonly failure: string };

interface Later {
  /** As `failure`. */
  readonly reason: string;
  /** Seconds that the provider asks to wait. */
  readonly asked: number | undefined;
}

async function attempt(dependencies: Dependencies, row: ClaimedMessage): Promise<Settled | Later | 'left to others'> {
  const { keys, senders, metrics, log, sending } = dependencies;
  const about = aboutMessage(row);
  const fail = (failure: string) => {
    metrics.failed(row.channel);
    // An error: until the code expires, an operator can still help the patient who waits for it.
    log.error({ ...about, ...inWords(failure) }, 'message failed');
    return { failure };
  };
  const inWords = (reason: string) => ({ reason, cause: messageFailureText(reason, senders[row.channel]?.address) });
  // Its receipt came before the gateway recorded that the provider had accepted it.
  if (row.delivered_at) return 'sent';
  if (secondsLeft(row) <= 0) return fail(row.failure_reason ?? 'expired');
  const sender = senders[row.channel];
  if (!sender) return fail('no_sender');
  const content = row.sealed_content && openContent(keys, row, row.sealed_content);
  if (!content) return fail('unreadable');
  const message: OutgoingMessage = {
    id: row.id,
    emr: row.emr,
    careUnitId: row.care_unit_id,
    channel: row.channel,
    to: content.to,
    appointmentId: row.first_appointment_id,
    ...compose(row.channel, content, secondsLeft(row)),
    ...(row.receiptUrl ? { receiptUrl: row.receiptUrl } : {}),
  };
  // This process was stopped since it claimed the message, so another one may be sending it.
  if (performance.now() >= row.claimEnds) return 'left to others';
  try {
    await sender.send(message, AbortSignal.timeout(sendTimeout));
    metrics.sent(row.channel);
    sending.succeeded(row.channel);
    log.info(about, 'message sent');
    return 'sent';
  } catch (error) {
    if (!(error instanceof PermanentFailure || error instanceof TemporaryFailure)) throw error;
    if (isFaultOfProvider(error.reason)) sending.failed(row.channel, inWords(error.reason));
    else sending.succeeded(row.channel);
    if (error instanceof PermanentFailure) return fail(error.reason);
    // No later attempt would be before the end of the code.
    if (Math.max(1, error.retryAfterSeconds ?? 0) >= secondsLeft(row)) return fail(error.reason);
    log.info({ ...about, ...inWords(error.reason) }, 'message could not be sent, will retry');
    return { reason: error.reason, asked: error.retryAfterSeconds };
  }
}

/**
 * Records the outcome and deletes the content. A failed message keeps its content until the code expires, so that an
 * operator can send it again; so does a sent one that can still fail by its receipt. A message that was superseded or has
 * failed in the meantime stays so. If another process has claimed it, only success counts.
 */
async function settle(db: Db, message: ClaimedMessage, outcome: Settled): Promise<void> {
  const mayBeSentAgain =
    outcome === 'sent' ? sql<boolean>`receipt_hash IS NOT NULL AND delivered_at IS NULL` : sql<boolean>`true`;
  const update = db
    .updateTable('messages')
    .set({
      state: outcome === 'sent' ? 'sent' : 'failed',
      failure_reason: outcome === 'sent' ? null : outcome.failure,
      sealed_content: sql<Buffer | null>`
        CASE WHEN ${mayBeSentAgain} AND expires_at > clock_timestamp() THEN sealed_content END`,
      completed_at: sql<Date>`clock_timestamp()`,
      next_attempt_at: null,
    })
    .where('id', '=', message.id)
    .where('state', '=', 'queued')
    .$if(outcome !== 'sent', (failed) => failed.where('attempts', '=', message.attempts))
    .returning(['id', sql<Date>`clock_timestamp()`.as('began_at')]);
  const run = async () => {
    if (outcome === 'sent') return void (await update.execute());
    const events = [messageEvent('message.failed', message, outcome.failure)];
    await withEvents(sql`${update}`, eventsText([{ id: message.id, events }])).execute(db);
  };
  for (let tries = 1; ; tries++) {
    try {
      return await briefly(run);
    } catch (error) {
      // Without this, the message would be sent a second time.
      if (tries === 5) throw error;
      await sleep(500 * tries);
    }
  }
}
