import { sql } from 'kysely';
import { Counter, Gauge, type Registry } from 'prom-client';
import type { Db } from '../db/kysely.ts';
import { listSilentEndpoints } from './failing-endpoints.ts';
import type { Settled } from './settle-delivery.ts';

export interface WebhookMetrics {
  /** `not_granted`: it was ended without an attempt. */
  attempted(outcome: Settled | 'not_granted'): void;
  /** Reads the gauges. */
  refresh(db: Db): Promise<void>;
}

export function createWebhookMetrics(registry: Registry): WebhookMetrics {
  const attempts = new Counter({
    name: 'crossward_webhook_attempts_total',
    help: 'Attempts of this gateway to deliver an event, by outcome: delivered, retry (failed, will be repeated), failed (given up), not_granted (ended without an attempt, because no gateway lets the client see the event) or superseded (its endpoint was disabled or deleted, or another gateway claimed the delivery).',
    labelNames: ['outcome'],
    registers: [registry],
  });
  const pending = new Gauge({
    name: 'crossward_webhook_deliveries_pending',
    help: 'Deliveries to webhook endpoints that have not ended, of all gateways on this database.',
    registers: [registry],
    aggregator: 'max',
  });
  const oldest = new Gauge({
    name: 'crossward_webhook_oldest_pending_seconds',
    help: 'Age of the oldest delivery that has not ended. 0 if there is none.',
    registers: [registry],
    aggregator: 'max',
  });
  const silent = new Gauge({
    name: 'crossward_webhook_endpoints_failing',
    help: 'Webhook endpoints that take nothing: attempts have failed for more than a minute, and none has succeeded since.',
    registers: [registry],
    aggregator: 'max',
  });
  return {
    attempted: (outcome) => attempts.inc({ outcome }),
    async refresh(db) {
      const { rows } = await sql<{ count: number; oldest: number }>`
        SELECT count(*)::int AS count, coalesce(extract(epoch FROM now() - min(created_at)), 0)::float8 AS oldest
        FROM webhook_deliveries WHERE state = 'pending'`.execute(db);
      pending.set(rows[0]?.count ?? 0);
      oldest.set(rows[0]?.oldest ?? 0);
      silent.set((await listSilentEndpoints(db)).length);
    },
  };
}
