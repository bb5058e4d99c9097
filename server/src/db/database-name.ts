import pg from 'pg';
import type { DatabaseOptions } from './database.ts';

/** Display name of the database without credentials: host, port and name as read by the driver, or the folder. */
export function databaseName({ databaseUrl, dataDir }: Pick<DatabaseOptions, 'databaseUrl' | 'dataDir'>): string {
  if (databaseUrl === undefined) return `the embedded database in ${dataDir}`;
  try {
    const { database, host, port } = new pg.Client({ connectionString: databaseUrl });
    return `the database ${database} at ${host}:${port}`;
  } catch {
    return 'the database that DATABASE_URL names';
  }
}
