import pg from 'pg';
import type { DatabaseOptions } from './database.ts';
import { serverUrls } from './server-urls.ts';

/** Display name of the database without credentials: hosts, ports and name as read by the driver, or the folder. */
export function databaseName({ databaseUrl, dataDir }: Pick<DatabaseOptions, 'databaseUrl' | 'dataDir'>): string {
  if (databaseUrl === undefined) return `the embedded database in ${dataDir}`;
  try {
    const clients = serverUrls(databaseUrl).map((connectionString) => new pg.Client({ connectionString }));
    return `the database ${clients[0]?.database} at ${clients.map(({ host, port }) => `${host}:${port}`).join(' or ')}`;
  } catch {
    return 'the database that DATABASE_URL names';
  }
}
