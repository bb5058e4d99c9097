import { AsyncResource } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import type { Logger } from 'pino';
import { createClaimedWork, type Places } from '../db/claimed-work.ts';
import type { Db, Tx } from '../db/kysely.ts';
import type { Channel } from '../db/tables/messages.ts';
import { describeError } from '../log/describe-error.ts';
import type { KeyRing } from '../secrets/key-ring.ts';
import { type ClaimedMessage, claimMessages, renewClaims } from './claim-messages.ts';
import { sealContent } from './content.ts';
import { markDelayed } from './delayed.ts';
import { deliver } from './deliver.ts';
import { adoptMessages } from './earlier-queue.ts';
import type { MessageMetrics } from './metrics.ts';
import type { CodeMessage, Outbox } from './outbox.ts';
import type { ReceiptUrls } from './receipt-urls.ts';
import type { Senders } from './sender.ts';
import { createSendingLog } from './sending-log.ts';

const channels = ['sms', 'email'] as const;
/** Attempts of a process at the same time, for each channel: a provider that hangs does not stop the other one. */
const atOnce = 8;
/** Milliseconds between two renewals of claims, well below the time after which they expire. */
const renewalPause = 1_000;
/** Milliseconds after a message was queued. Most transactions have been committed by then; others find the next look. */
const soon = 25;

export interface RunningOutbox extends Outbox {
  /** Channels with a configured sender. */
  readonly channels: ReadonlySet<Channel>;
  /** Waits for messages that are being sent. Must be called before the database is closed. */
  stop(): Promise<void>;
}

interface Dependencies {
  /** Uses the pool for background jobs. */
  readonly db: Db;
  readonly keys: KeyRing;
  readonly senders: Senders;
  readonly metrics: MessageMetrics;
  /** Where providers report what becomes of a message. Absent: they are not asked to. */
  readonly receiptUrls?: ReceiptUrls | undefined;
  readonly log: Logger;
}

/**
 * Messages are stored, encrypted, in the table `messages`, with the time of their next attempt. Several gateways share the
 * work. A process renews the claims of what it is sending, so those of a killed one expire within seconds.
 *
 * Delivery is at least once: a message is sent twice if the gateway is killed or stopped, or the response lost, after the
 * provider has accepted it.
 */
export function createOutbox({ db, keys, senders, metrics, receiptUrls, log }: Dependencies): RunningOutbox {
  const sending = createSendingLog(log);
  const inHand = new Map<string, ClaimedMessage>();
  const work = createClaimedWork<Channel, ClaimedMessage>({
    places: placesPerChannel(),
    claim: (channel, limit) => claimMessages(db, { channel, limit, inHand: inHand.keys() }, receiptUrls),
    async attempt(_channel, message) {
      inHand.set(message.id, message);
      await deliver({ db, keys, senders, metrics, log, sending }, message);
      inHand.delete(message.id);
    },
    reread: async (channel) => channel,
    failed: (channel, error) => log.error({ channel, cause: describeError(error) }, 'looking for messages failed'),
  });
  const renewing = setInterval(() => {
    // If it fails, the claims expire.
    if (inHand.size > 0) renewClaims(db, [...inHand.values()]).catch(() => undefined);
  }, renewalPause).unref();
  const nudged = new Set<Channel>();
  /** Bound, so that it runs outside of the request that queues a message, with its trace and its time for the database. */
  const sendSoon = AsyncResource.bind((channel: Channel) => {
    if (nudged.has(channel)) return;
    nudged.add(channel);
    setTimeout(() => {
      nudged.delete(channel);
      work.refill(channel);
    }, soon).unref();
  });
  return {
    channels: new Set(channels.filter((channel) => senders[channel])),
    async stop() {
      await work.stop();
      clearInterval(renewing);
      sending.stop();
    },
    async enqueue(tx, message) {
      await insertMessage(tx, keys, message);
      metrics.queued(message.channel);
      sendSoon(message.channel);
    },
    withdraw: (tx, confirmationIds) => supersede(tx, confirmationIds),
    async send() {
      await Promise.all(channels.map((channel) => work.start(channel)));
    },
    adopt: () => adoptMessages(db),
    markDelayed: markDelayed({ db, senders, metrics, log }),
  };
}

function placesPerChannel(): Places<Channel> {
  const taken = { sms: 0, email: 0 };
  return {
    free: (channel) => atOnce - taken[channel],
    take: (channel, count) => {
      taken[channel] += count;
    },
    release: (channel, count) => {
      taken[channel] -= count;
    },
  };
}

async function insertMessage(tx: Tx, keys: KeyRing, message: CodeMessage): Promise<void> {
  const { confirmationId, appointments, kind, to, language, clinicName, timeZone, pageUrl, code } = message;
  const [first] = appointments;
  if (!first) throw new Error('A code message needs an appointment');
  const owner = { id: randomUUID(), emr: message.emr };
  const content = {
    kind,
    to,
    language,
    clinicName,
    timeZone,
    pageUrl,
    code,
    firstStart: first.start,
    count: appointments.length,
  };
  await supersede(tx, [confirmationId]);
  await tx
    .insertInto('messages')
    .values({
      ...owner,
      confirmation_id: confirmationId,
      sequence: sql`(SELECT coalesce(max(sequence), 0) + 1 FROM messages WHERE confirmation_id = ${confirmationId})`,
      care_unit_id: message.careUnitId,
      channel: message.channel,
      first_appointment_id: first.id,
      sealed_content: sealContent(keys, owner, content),
      expires_at: message.expiresAt,
      next_attempt_at: sql<Date>`now()`,
      attempts: 0,
    })
    .execute();
}

/** A failed message stays failed, so that operators still see it, but cannot be sent again. Receipts no longer count. */
async function supersede(tx: Tx, confirmationIds: readonly string[]): Promise<void> {
  if (confirmationIds.length === 0) return;
  await tx
    .updateTable('messages')
    .set({
      state: sql`CASE state WHEN 'queued' THEN 'superseded' ELSE state END`,
      sealed_content: null,
      completed_at: sql<Date>`coalesce(completed_at, clock_timestamp())`,
      next_attempt_at: null,
      needs_job: false,
      receipt_hash: null,
    })
    // Not an array: PostgreSQL counts its elements as ten, and scans a table that was never analysed.
    .where('confirmation_id', 'in', [...confirmationIds])
    .where((is) => is.or([is('state', 'in', ['queued', 'failed']), is('receipt_hash', 'is not', null)]))
    .execute();
}
