import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { Counter, Gauge, type Registry } from 'prom-client';
import type { Db } from '../db/kysely.ts';
import type { Channel } from '../db/tables/messages.ts';

export interface MessageMetrics {
  queued(channel: Channel): void;
  sent(channel: Channel): void;
  /** Given up for good. */
  failed(channel: Channel): void;
}

interface Waiting {
  readonly channel: Channel;
  readonly count: number;
  /** Seconds. */
  readonly oldest: number;
}

/** Milliseconds. What the database does not tell by then is left out: the other metrics must not wait for it. */
const readTimeout = 2_000;

/** The only label is the channel: nothing of a message or of whom it is for. */
export function createMessageMetrics(registry: Registry, db: Db): MessageMetrics {
  const counter = (name: string, help: string) =>
    new Counter({ name, help, labelNames: ['channel'], registers: [registry] });
  const queued = counter(
    'crossward_messages_queued_total',
    'Messages that this gateway has put into the queue, with those of writes that were rolled back.',
  );
  const sent = counter('crossward_messages_sent_total', 'Messages that a provider has accepted from this gateway.');
  const failed = counter('crossward_messages_failed_total', 'Messages that this gateway has given up for good.');
  watchQueue(registry, () => readQueue(db));
  return {
    queued: (channel) => queued.inc({ channel }),
    sent: (channel) => sent.inc({ channel }),
    failed: (channel) => failed.inc({ channel }),
  };
}

/** Both gauges of a scrape stand on one look. Without an answer there are none: better than old ones. */
function watchQueue(registry: Registry, read: () => Promise<readonly Waiting[]>): void {
  let reading: Promise<readonly Waiting[] | undefined> | undefined;
  const look = () => {
    reading ??= Promise.race([read(), sleep(readTimeout, undefined, { ref: false })])
      .catch(() => undefined)
      .finally(() => {
        reading = undefined;
      });
    return reading;
  };
  const gauge = (name: string, help: string, value: (waiting: Waiting) => number) =>
    new Gauge({
      name,
      help,
      labelNames: ['channel'],
      registers: [registry],
      async collect() {
        const waiting = await look();
        this.reset();
        for (const it of waiting ?? []) this.set({ channel: it.channel }, value(it));
      },
    });
  gauge(
    'crossward_messages_waiting',
    'Messages that are to be sent, by any gateway of the database.',
    ({ count }) => count,
  );
  gauge(
    'crossward_messages_oldest_waiting_seconds',
    'Age of the oldest message that is to be sent, by any gateway of the database. 0: none is.',
    ({ oldest }) => oldest,
  );
}

/** Through the partial index of the messages that wait. */
async function readQueue(db: Db): Promise<readonly Waiting[]> {
  const { rows } = await sql<Waiting>`
    SELECT channel, count(id)::int AS count,
      coalesce(greatest(extract(epoch FROM clock_timestamp() - min(created_at)), 0), 0)::float8 AS oldest
    FROM unnest(ARRAY['sms', 'email']) AS channels (channel)
    LEFT JOIN (SELECT id, channel, created_at FROM messages WHERE state = 'queued') AS queued USING (channel)
    GROUP BY channel`.execute(db);
  return rows;
}
