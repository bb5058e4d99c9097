import { setTimeout as sleep } from 'node:timers/promises';
import { Counter, Gauge, type Registry } from 'prom-client';
import type { Db } from '../db/kysely.ts';
import type { Channel } from '../db/tables/messages.ts';
import { listFailingProviders } from './provider-faults.ts';
import { readQueue, type Waiting } from './read-queue.ts';

export interface MessageMetrics {
  queued(channel: Channel): void;
  sent(channel: Channel): void;
  /** Has not left within a minute. */
  delayed(channel: Channel): void;
  /** Failed permanently. */
  failed(channel: Channel): void;
  receipt(channel: Channel, result: ReceiptResult): void;
}

/**
 * - `interim`: says nothing final
 * - `rejected`: the provider has not signed it
 * - `late`: the outcome is known already
 */
export type ReceiptResult = 'delivered' | 'failed' | 'interim' | 'rejected' | 'late';

/** Milliseconds. After this time-out the gauges are left out, so that they do not delay the other metrics. */
const readTimeout = 2_000;

/** The labels are the channel and fixed words, so that no metric identifies a message or patient. */
export function createMessageMetrics(registry: Registry, db: Db): MessageMetrics {
  const counter = (name: string, help: string) =>
    new Counter({ name, help, labelNames: ['channel'], registers: [registry] });
  const queued = counter(
    'crossward_messages_queued_total',
    'Messages queued by this gateway, including those of transactions that were rolled back.',
  );
  const sent = counter('crossward_messages_sent_total', 'Messages from this gateway that a provider accepted.');
  const delayed = counter(
    'crossward_messages_delayed_total',
    'Messages that had not left within a minute. Each is counted by the gateway that noticed it.',
  );
  const failed = counter('crossward_messages_failed_total', 'Messages that failed permanently in this gateway.');
  const receipts = new Counter({
    name: 'crossward_message_receipts_total',
    help: 'Delivery receipts of messages that this gateway received from providers.',
    labelNames: ['channel', 'result'],
    registers: [registry],
  });
  watchQueue(registry, async () => {
    const [queue, failing] = await Promise.all([readQueue(db), listFailingProviders(db)]);
    return queue.map((it) => ({ ...it, isFailing: failing.some(({ channel }) => channel === it.channel) }));
  });
  return {
    queued: (channel) => queued.inc({ channel }),
    sent: (channel) => sent.inc({ channel }),
    delayed: (channel) => delayed.inc({ channel }),
    failed: (channel) => failed.inc({ channel }),
    receipt: (channel, result) => receipts.inc({ channel, result }),
  };
}

interface WaitingMessages extends Waiting {
  /** Whether the provider answers nothing but faults. */
  readonly isFailing: boolean;
}

/** The gauges share one look for each scrape. If it fails they are left out, since old values would mislead. */
function watchQueue(registry: Registry, read: () => Promise<readonly WaitingMessages[]>): void {
  let reading: Promise<readonly WaitingMessages[] | undefined> | undefined;
  const look = () => {
    reading ??= Promise.race([read(), sleep(readTimeout, undefined, { ref: false })])
      .catch(() => undefined)
      .finally(() => {
        reading = undefined;
      });
    return reading;
  };
  const gauge = (name: string, help: string, value: (waiting: WaitingMessages) => number) =>
    new Gauge({
      name,
      help,
      labelNames: ['channel'],
      registers: [registry],
      // Every worker reads the same database.
      aggregator: 'max',
      async collect() {
        const waiting = await look();
        this.reset();
        for (const it of waiting ?? []) this.set({ channel: it.channel }, value(it));
      },
    });
  gauge('crossward_messages_waiting', 'Queued messages of all gateways on this database.', ({ count }) => count);
  gauge(
    'crossward_messages_delayed',
    'Queued messages of all gateways on this database that have not left within a minute.',
    ({ delayed }) => delayed,
  );
  gauge(
    'crossward_messages_oldest_waiting_seconds',
    'Age of the oldest queued message of all gateways on this database. 0 if none is queued.',
    ({ oldest }) => oldest,
  );
  gauge(
    'crossward_messages_provider_failing',
    'Whether the provider of the channel answers nothing but faults, seen by all gateways on this database: 1 or 0.',
    ({ isFailing }) => (isFailing ? 1 : 0),
  );
}
