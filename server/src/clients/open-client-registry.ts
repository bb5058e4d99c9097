import type { Logger } from 'pino';
import type { Db } from '../db/kysely.ts';
import type { KeyRing } from '../secrets/key-ring.ts';
import { createClientRegistry, type RefreshableClients, type RegistryConfiguration } from './client-registry.ts';
import { readClients } from './read-clients.ts';

/** Creates the registry with the clients of the configuration file and of the database. */
export async function openClientRegistry(
  configuration: RegistryConfiguration,
  db: Db,
  keys: KeyRing,
  log: Logger,
): Promise<RefreshableClients> {
  const clients = createClientRegistry({ configured: configuration, read: (known) => readClients(db, keys, known) });
  await clients.refresh();
  for (const client_id of clients.overridden()) {
    log.warn({ client_id }, 'stored client not used: the configuration file has a client with the same id');
  }
  return clients;
}
