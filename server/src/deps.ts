import type { Logger } from 'pino';
import { type ClientRegistry, createClientRegistry } from './clients/client-registry.ts';
import type { Configuration } from './config/configuration.ts';
import type { Database } from './db/database.ts';
import { migrate, migrationsApplied } from './db/migrate.ts';
import { migrationSets } from './db/migration-sets.ts';
import { connectors } from './ehr/connectors.ts';
import { type EhrRegistry, openEhrRegistry } from './ehr/registry.ts';
import { type Cursors, createCursors } from './http/paging.ts';
import { createKeyRing } from './secrets/key-ring.ts';

/** Everything that the operations stand on, made once. */
export interface Deps {
  readonly log: Logger;
  readonly clients: ClientRegistry;
  readonly ehrs: EhrRegistry;
  readonly cursors: Cursors;
  readonly limits: { readonly requestsPerMinute: number };
  isReady(): Promise<boolean>;
}

interface Means {
  readonly configuration: Configuration;
  readonly database: Database;
  /** 32 bytes each, the newest first. */
  readonly secretKeys: readonly [Buffer, ...Buffer[]];
  readonly log: Logger;
}

/** Brings the database up to date and connects to every EHR. */
export async function createDeps({ configuration, database, secretKeys, log }: Means): Promise<Deps> {
  const sets = migrationSets(connectors);
  await migrate(database, sets);
  return {
    log,
    clients: createClientRegistry(configuration.clients),
    ehrs: await openEhrRegistry(configuration, connectors, database.pool),
    cursors: createCursors(createKeyRing(secretKeys)),
    limits: { requestsPerMinute: configuration.limits.requests_per_minute },
    isReady: () => migrationsApplied(database, sets),
  };
}
