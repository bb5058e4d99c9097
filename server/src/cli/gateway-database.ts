import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { ConnectorModule } from '@crossward/connector-kit';
import { readEnvironment } from '../config/environment/environment.ts';
import { type Database, openDatabase } from '../db/database.ts';
import { databaseName } from '../db/database-name.ts';
import { embeddedFiles } from '../db/embedded-files.ts';
import { createDb, type Db } from '../db/kysely.ts';
import { migrationsApplied } from '../db/migrate.ts';
import { migrationSets } from '../db/migration-sets.ts';
import { connectors } from '../ehr/connectors.ts';
import { UsageError } from './exit-codes.ts';
import type { Output } from './output.ts';

interface GatewayDatabase {
  readonly database: Database;
  /** Display name. */
  readonly name: string;
}

/**
 * Opens the existing database of the gateway. Never creates or migrates one, so that a wrong path or URL is reported.
 *
 * @param modules connectors whose migrations it must have, besides those of the built-in ones
 * @throws {UsageError} if there is no database, or migrations are missing
 */
export async function openGatewayDatabase(modules: readonly ConnectorModule[] = []): Promise<GatewayDatabase> {
  const { DATABASE_URL, CROSSWARD_DATA_DIR } = process.env;
  const { databaseUrl, dataDirectory } = readEnvironment({ DATABASE_URL, CROSSWARD_DATA_DIR });
  const options = { databaseUrl: databaseUrl?.reveal(), dataDir: resolve(dataDirectory) };
  const name = databaseName(options);
  if (databaseUrl === undefined && !existsSync(embeddedFiles(options.dataDir))) {
    throw new UsageError(
      `No database found: DATABASE_URL is not set, and the data directory ${options.dataDir} contains none. ` +
        'Set DATABASE_URL or CROSSWARD_DATA_DIR to the same value as for the gateway, or start the gateway first.',
    );
  }
  const database = await openDatabase(options);
  try {
    if (await migrationsApplied(database, migrationSets([...new Set([...connectors, ...modules])])))
      return { database, name };
    throw new UsageError(
      `${name} lacks migrations of this version. Start this version of the gateway first, or use another database.`,
    );
  } catch (error) {
    await database.close();
    throw error;
  }
}

/** Opens the gateway's database, prints its name, runs the function on it, and closes it. */
export async function withDatabase<Result>(output: Output, run: (db: Db) => Promise<Result>): Promise<Result> {
  const { database, name } = await openGatewayDatabase();
  try {
    output.err(`Using ${name}.\n`);
    return await run(createDb(database));
  } finally {
    await database.close();
  }
}
