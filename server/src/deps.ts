import type { ConnectorModule } from '@crossward/connector-kit';
import type { Logger } from 'pino';
import { Registry } from 'prom-client';
import { type ClientRegistry, createClientRegistry } from './clients/client-registry.ts';
import type { Configuration } from './config/configuration.ts';
import type { Database } from './db/database.ts';
import { createDb } from './db/kysely.ts';
import { migrate, migrationsApplied } from './db/migrate.ts';
import { migrationSets } from './db/migration-sets.ts';
import { measurePools } from './db/pool-metrics.ts';
import { connectors } from './ehr/connectors.ts';
import { createEhrMetrics } from './ehr/guard/metrics.ts';
import { type EhrRegistry, openEhrRegistry } from './ehr/registry.ts';
import { startHousekeeping } from './housekeeping.ts';
import { type Cursors, createCursors } from './http/paging.ts';
import { createOutbox } from './messages/create-outbox.ts';
import type { DemoMailbox } from './messages/providers/demo-mailbox.ts';
import { createSenders } from './messages/senders.ts';
import { createKeyRing } from './secrets/key-ring.ts';
import { startGatewayProcess } from './writes/gateway-process.ts';
import { createWriteMetrics } from './writes/metrics.ts';
import type { WriteServices } from './writes/services.ts';

/** Everything that the operations stand on, made once. */
export interface Deps {
  readonly log: Logger;
  readonly metrics: Registry;
  readonly clients: ClientRegistry;
  readonly ehrs: EhrRegistry;
  readonly cursors: Cursors;
  readonly services: WriteServices;
  /** Where the configuration delivers messages to a demo mailbox. */
  readonly mailbox: DemoMailbox | undefined;
  readonly limits: { readonly requestsPerMinute: number };
  isReady(): Promise<boolean>;
  /** After the last request: what runs beside them ends in good order. The database is closed by whoever opened it. */
  stop(): Promise<void>;
}

interface Means {
  readonly configuration: Configuration;
  readonly database: Database;
  /** Lets messages leave at once. */
  readonly databaseUrl?: string | undefined;
  /** 32 bytes each, the newest first. */
  readonly secretKeys: readonly [Buffer, ...Buffer[]];
  readonly log: Logger;
  readonly connectors?: readonly ConnectorModule[];
}

/** Brings the database up to date, connects to every EHR, and starts what runs beside the requests. */
export async function createDeps(means: Means): Promise<Deps> {
  const { configuration, database, databaseUrl, secretKeys, log } = means;
  const modules = means.connectors ?? connectors;
  const sets = migrationSets(modules);
  await migrate(database, sets);
  const db = createDb(database);
  const background = createDb({ pool: database.background });
  const keys = createKeyRing(secretKeys);
  const senders = createSenders(configuration.messages, { db: background, keys });
  const outbox = createOutbox({ database, db: background, keys, senders, log, databaseUrl });
  const metrics = new Registry();
  measurePools(metrics, database);
  const ehrs = await openEhrRegistry(configuration, modules, {
    database: database.pool,
    metrics: createEhrMetrics(metrics),
    log,
  });
  const process = await startGatewayProcess(background, database.kind);
  await outbox.start();
  const writeMetrics = createWriteMetrics(metrics);
  const services: WriteServices = {
    db,
    keys,
    ehrs,
    outbox,
    channels: outbox.channels,
    process,
    onOutcomeLost({ operationId, emr }) {
      writeMetrics.outcomeLost(emr);
      log.error(
        { operation_id: operationId, emr },
        'nobody knows whether an EHR has done a write; it is not done again',
      );
    },
  };
  const housekeeping = startHousekeeping({ ...services, db: background }, configuration.retention, log);
  return {
    log,
    metrics,
    clients: createClientRegistry(configuration.clients),
    ehrs,
    cursors: createCursors(keys),
    services,
    mailbox: senders.mailbox,
    limits: { requestsPerMinute: configuration.limits.requests_per_minute },
    isReady: () => migrationsApplied(database, sets),
    async stop() {
      await housekeeping.stop();
      await outbox.stop();
      await process.stop();
      await Promise.all([...ehrs.values()].map((ehr) => ehr.close()));
    },
  };
}
