import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import type { Database } from '../db/database.ts';
import type { Db } from '../db/kysely.ts';

const beatMilliseconds = 3_000;
/** How long after its last sign of life a process counts as dead, by the database's clock. */
const leaseSeconds = 12;

/** This process among those that share the database. */
export interface GatewayProcess {
  readonly id: string;
  /** Operations that a request in this process is working on right now. */
  readonly active: Set<string>;
  /** Keys that a request in this process is working on, whatever operation they stand for by then. */
  readonly activeKeys: Set<string>;
  stop(): Promise<void>;
}

/**
 * Signs on. The embedded database has room for one process, so whoever else is written there is dead; on PostgreSQL a
 * process is dead when its lease has run out.
 */
export async function startGatewayProcess(db: Db, kind: Database['kind']): Promise<GatewayProcess> {
  const id = randomUUID();
  if (kind === 'pglite') await db.deleteFrom('gateways').execute();
  await signOfLife(db, id);
  let last: Promise<unknown> = Promise.resolve();
  const timer = setInterval(() => {
    last = signOfLife(db, id).catch(() => undefined);
  }, beatMilliseconds);
  timer.unref();
  return {
    id,
    active: new Set(),
    activeKeys: new Set(),
    async stop() {
      clearInterval(timer);
      await last;
      // A database that is gone has no use for the goodbye either: the lease runs out.
      await db
        .deleteFrom('gateways')
        .where('id', '=', id)
        .execute()
        .catch(() => undefined);
    },
  };
}

/** Whether the process that owns a row is at work: SQL for a column `owner`. */
export const ownerIsAlive = sql<boolean>`
  EXISTS (SELECT 1 FROM gateways WHERE gateways.id = owner AND gateways.alive_until > clock_timestamp())`;

async function signOfLife(db: Db, id: string): Promise<void> {
  const until = sql<Date>`clock_timestamp() + make_interval(secs => ${leaseSeconds})`;
  await db
    .insertInto('gateways')
    .values({ id, alive_until: until })
    .onConflict((conflict) => conflict.column('id').doUpdateSet({ alive_until: until }))
    .execute();
  await db.deleteFrom('gateways').where('alive_until', '<', sql<Date>`clock_timestamp() - interval '1 hour'`).execute();
}
