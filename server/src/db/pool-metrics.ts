import { Gauge, Histogram, type Registry } from 'prom-client';
import type { Database } from './database.ts';

/** Measures what waits for connections to the database. On PGlite requests and background work share the one there is. */
export function measurePools(registry: Registry, { pool, background }: Database): void {
  const pools = { requests: pool, ...(background === pool ? {} : { background }) };
  const waited = new Histogram({
    name: 'crossward_database_pool_wait_seconds',
    help: 'Time that was waited for a connection to the database, in vain or not.',
    labelNames: ['pool'],
    buckets: [0.0001, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30],
    registers: [registry],
  });
  new Gauge({
    name: 'crossward_database_pool_waiting',
    help: 'How many wait for a connection to the database.',
    labelNames: ['pool'],
    registers: [registry],
    collect() {
      for (const [name, { waiting }] of Object.entries(pools)) this.set({ pool: name }, waiting);
    },
  });
  for (const [name, one] of Object.entries(pools)) {
    one.observeWaits((seconds) => waited.observe({ pool: name }, seconds));
  }
}
