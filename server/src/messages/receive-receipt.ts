import { type RawBuilder, sql } from 'kysely';
import type { Logger } from 'pino';
import type { Db } from '../db/kysely.ts';
import { type Changed, eventsText, withEvents } from '../events/write-events.ts';
import { hashOfToken, isLinkToken } from '../secrets/link-token.ts';
import { messageFailureText } from './failure-text.ts';
import type { MessageMetrics } from './metrics.ts';
import type { ReceiptUrls } from './receipt-urls.ts';
import { aboutMessage, messageEvent } from './reported-message.ts';
import type { ReceiptRequest, Senders } from './sender.ts';

interface Dependencies {
  readonly db: Db;
  readonly senders: Senders;
  readonly metrics: MessageMetrics;
  readonly receiptUrls: ReceiptUrls;
  readonly log: Logger;
}

/** Takes a receipt. Returns the same whether or not the token is known. */
export type ReceiveReceipt = (token: string, request: Omit<ReceiptRequest, 'url'>) => Promise<void>;

/**
 * A receipt counts if it is about the latest attempt to send the newest message of a confirmation. It can come before the
 * gateway has recorded that the provider accepted the message, more than once, and in any order: a message that has arrived
 * no longer fails, one that has failed can still arrive.
 */
export function receiveReceipts({ db, senders, metrics, receiptUrls, log }: Dependencies): ReceiveReceipt {
  return async (token, request) => {
    if (!isLinkToken(token)) return;
    const hash = hashOfToken(token);
    const message = await findMessage(db, hash);
    if (!message) return;
    const { channel } = message;
    const sender = senders[channel];
    const receipt = sender?.readReceipt?.({ ...request, url: receiptUrls.of(token) }) ?? 'interim';
    const about = aboutMessage(message);
    switch (receipt) {
      case 'interim':
        return metrics.receipt(channel, receipt);
      case 'rejected':
        log.warn(about, 'delivery receipt rejected: its signature does not match http.public_url and the auth token');
        return metrics.receipt(channel, receipt);
      case 'delivered': {
        const events = eventsText([{ id: message.id, events: [messageEvent('message.delivered', message, null)] }]);
        const { rows } = await withEvents(asDelivered(hash), events).execute(db);
        metrics.receipt(channel, rows.length > 0 ? 'delivered' : 'late');
        if (rows.length > 0) log.info(about, 'message delivered');
        return;
      }
      default: {
        const { failure } = receipt;
        const events = eventsText([{ id: message.id, events: [messageEvent('message.failed', message, failure)] }]);
        const { rows } = await withEvents(asFailed(hash, failure), events).execute(db);
        metrics.receipt(channel, rows.length > 0 ? 'failed' : 'late');
        if (rows.length === 0) return;
        metrics.failed(channel);
        log.error({ ...about, reason: failure, cause: messageFailureText(failure, sender?.address) }, 'message failed');
      }
    }
  };
}

function findMessage(db: Db, hash: Buffer) {
  return db
    .selectFrom('messages')
    .select(['id', 'confirmation_id', 'emr', 'care_unit_id', 'channel', 'first_appointment_id'])
    .where('receipt_hash', '=', hash)
    .executeTakeFirst();
}

/** One that is still queued keeps its content: the gateway that is sending it ends it. */
function asDelivered(hash: Buffer): RawBuilder<Changed> {
  return sql<Changed>`
    UPDATE messages SET delivered_at = clock_timestamp(), failure_reason = NULL,
      state = CASE state WHEN 'queued' THEN 'queued' ELSE 'sent' END,
      sealed_content = CASE state WHEN 'queued' THEN sealed_content END
    WHERE receipt_hash = ${hash} AND delivered_at IS NULL
    RETURNING id, clock_timestamp() AS began_at`;
}

function asFailed(hash: Buffer, reason: string): RawBuilder<Changed> {
  return sql<Changed>`
    UPDATE messages SET state = 'failed', failure_reason = ${reason}, completed_at = clock_timestamp(), next_attempt_at = NULL,
      sealed_content = CASE WHEN expires_at > clock_timestamp() THEN sealed_content END
    WHERE receipt_hash = ${hash} AND delivered_at IS NULL AND state IN ('queued', 'sent')
    RETURNING id, clock_timestamp() AS began_at`;
}
