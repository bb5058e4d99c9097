import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import type { Logger } from 'pino';
import type { Db } from '../db/kysely.ts';
import { eventsText, withEvents } from '../events/write-events.ts';
import { describeError } from '../log/describe-error.ts';
import type { KeyRing } from '../secrets/key-ring.ts';
import { openContent } from './content.ts';
import { messageFailureText } from './failure-text.ts';
import type { MessageMetrics } from './metrics.ts';
import { isFaultOfProvider } from './provider-faults.ts';
import type { ReceiptUrls } from './receipt-urls.ts';
import { aboutMessage, messageEvent } from './reported-message.ts';
import { type OutgoingMessage, PermanentFailure, type Senders, TemporaryFailure } from './sender.ts';
import type { SendingLog } from './sending-log.ts';
import { compose } from './texts.ts';

/** Milliseconds. Time-out of a provider; well below the time after which pg-boss considers the job lost. */
const sendTimeout = 10_000;

/** Tells pg-boss to retry the job. pg-boss stores it in plain text, so it says nothing else. */
export class NotDelivered extends Error {
  override readonly name = 'NotDelivered';
  /** Whole seconds, at least one: the next attempt may not be later, because the code ends. `undefined`: not known. */
  readonly mostPause: number | undefined;

  constructor(reason: string, mostPause?: number) {
    super(reason);
    this.mostPause = mostPause;
  }
}

interface Dependencies {
  readonly db: Db;
  readonly keys: KeyRing;
  readonly senders: Senders;
  readonly metrics: MessageMetrics;
  readonly receiptUrls?: ReceiptUrls | undefined;
  readonly log: Logger;
  readonly sending: SendingLog;
}

/**
 * Makes one attempt to send a message, if it is still queued. Holds no database connection while the provider is called.
 * Throws `NotDelivered` if pg-boss should retry.
 */
export async function deliver(dependencies: Dependencies, messageId: string): Promise<void> {
  const { db, receiptUrls, log } = dependencies;
  let message: DueMessage | undefined;
  try {
    message = await claimDue(db, messageId, receiptUrls);
    if (!message) return;
    const outcome = await attempt(dependencies, message);
    if (outcome !== 'later') await settle(db, message, outcome);
    else throw new NotDelivered('later', mostPause(message));
  } catch (error) {
    if (error instanceof NotDelivered) throw error;
    // Log no message: a database error can quote a row.
    log.error({ message_id: messageId, cause: describeError(error) }, 'message could not be processed');
    throw new NotDelivered('error', message && mostPause(message));
  }
}

type DueMessage = NonNullable<Awaited<ReturnType<typeof claimDue>>>;

/** Seconds until the code expires. */
const secondsLeft = ({ expires }: DueMessage) => (expires - performance.now()) / 1000;

/** Half of the time that is left: attempts come closer together towards the end of the code, and none is after it. */
const mostPause = (message: DueMessage) => Math.max(1, Math.floor(secondsLeft(message) / 2));

/**
 * A queued row is the newest message of its confirmation and has not been withdrawn. The lock waits for a transaction that
 * is superseding it. The provider is called right after this, and receipts of earlier attempts no longer count.
 */
async function claimDue(db: Db, messageId: string, receiptUrls: ReceiptUrls | undefined) {
  const receipt = receiptUrls?.create();
  const reported = [...(receiptUrls?.channels ?? [])];
  const row = await db
    .updateTable('messages')
    .set({
      receipt_hash: sql<Buffer>`CASE WHEN channel = ANY (${reported}::text[]) THEN ${receipt?.hash ?? null}::bytea END`,
    })
    .where('id', '=', messageId)
    .where('state', '=', 'queued')
    .returning([
      'id',
      'confirmation_id',
      'emr',
      'care_unit_id',
      'channel',
      'sealed_content',
      'first_appointment_id',
      'failure_reason',
      'receipt_hash',
      'delivered_at',
    ])
    .returning([
      sql<number>`extract(epoch FROM expires_at - clock_timestamp())::float8`.as('seconds_left'),
      sql<boolean>`coalesce(not_before > clock_timestamp(), false)`.as('too_early'),
    ])
    .executeTakeFirst();
  // By the clock of this process, from the database's.
  return (
    row && {
      ...row,
      receiptUrl: row.receipt_hash && receipt?.url,
      expires: performance.now() + row.seconds_left * 1000,
    }
  );
}

/** `failure`: a fixed word or the provider's status code. For an expired message: why it had not been sent. */
type Settled = 'sent' | { readonly failure: string };

async function attempt(dependencies: Dependencies, row: DueMessage): Promise<Settled | 'later'> {
  const { db, keys, senders, metrics, log, sending } = dependencies;
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
  if (row.seconds_left <= 0) return fail(row.failure_reason ?? 'expired');
  if (row.too_early) return 'later';
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
    ...compose(row.channel, content, row.seconds_left),
    ...(row.receiptUrl ? { receiptUrl: row.receiptUrl } : {}),
  };
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
    await recordFailure(db, row.id, error);
    return 'later';
  }
}

/**
 * Records the outcome and deletes the content. A failed message keeps its content until the code expires, so that an
 * operator can send it again; so does a sent one that can still fail by its receipt. A message that was superseded or has
 * failed in the meantime stays so.
 */
async function settle(db: Db, message: DueMessage, outcome: Settled): Promise<void> {
  const mayBeSentAgain =
    outcome === 'sent' ? sql<boolean>`receipt_hash IS NOT NULL AND delivered_at IS NULL` : sql<boolean>`true`;
  const settled = {
    state: outcome === 'sent' ? ('sent' as const) : ('failed' as const),
    failure_reason: outcome === 'sent' ? null : outcome.failure,
    sealed_content: sql<Buffer | null>`
      CASE WHEN ${mayBeSentAgain} AND expires_at > clock_timestamp() THEN sealed_content END`,
  };
  for (let attempt = 1; ; attempt++) {
    try {
      const update = db
        .updateTable('messages')
        .set({ ...settled, completed_at: sql<Date>`clock_timestamp()` })
        .where('id', '=', message.id)
        .where('state', '=', 'queued')
        .returning(['id', sql<Date>`clock_timestamp()`.as('began_at')]);
      if (outcome === 'sent') {
        await update.execute();
      } else {
        const events = [messageEvent('message.failed', message, outcome.failure)];
        await withEvents(sql`${update}`, eventsText([{ id: message.id, events }])).execute(db);
      }
      return;
    } catch (error) {
      // Without this, the message would be sent a second time.
      if (attempt === 3) throw error;
      await sleep(500 * attempt);
    }
  }
}

/** Records why the attempt failed, and the earliest time of the next one. */
async function recordFailure(db: Db, messageId: string, { reason, retryAfterSeconds: wait }: TemporaryFailure) {
  await db
    .updateTable('messages')
    .set({ failure_reason: reason })
    .$if(wait !== undefined, (update) =>
      update.set({ not_before: sql<Date>`clock_timestamp() + ${wait} * interval '1 second'` }),
    )
    .where('id', '=', messageId)
    .where('state', '=', 'queued')
    .execute();
}
