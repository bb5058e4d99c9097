import { Gauge, Histogram, type Registry } from 'prom-client';
import type { Database } from './database.ts';

/** Measures the wait for database connections. On PGlite, requests and background jobs share one connection. */
export function measurePools(registry: Registry, { pool, background, publishing }: Database): void {
  const pools = { requests: pool, ...(background === pool ? {} : { background, publishing }) };
  const waited = new Histogram({
    name: 'crossward_database_pool_wait_seconds',
    help: 'Time spent waiting for a database connection, whether it was obtained or not.',
    labelNames: ['pool'],
    buckets: [0.0001, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30],
    registers: [registry],
  });
  new Gauge({
    name: 'crossward_database_pool_waiting',
    help: 'Number of callers waiting for a database connection.',
    labelNames: ['pool'],
    registers: [registry],
    collect() {
      for (const [name, { waiting }] of Object.entries(pools)) this.set({ pool: name }, waiting);
    },
  });
  for (const [name, one] of Object.entries(pools)) one.observeWaits(waited.labels({ pool: name }).observe);
}
