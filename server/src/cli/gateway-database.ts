import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { readEnvironment } from '../config/environment.ts';
import { type Database, embeddedFiles, openDatabase } from '../db/database.ts';
import { databaseName } from '../db/database-name.ts';
import { createDb, type Db } from '../db/kysely.ts';
import { migrationsApplied } from '../db/migrate.ts';
import { migrationSets } from '../db/migration-sets.ts';
import { connectors } from '../ehr/connectors.ts';
import { UsageError } from './exit-codes.ts';
import type { Output } from './output.ts';

interface GatewayDatabase {
  readonly database: Database;
  /** For people. */
  readonly name: string;
}

/**
 * The gateway's own, which a gateway has made. Commands make and change none: whoever looks at the wrong place must not
 * be told that all is well there.
 *
 * @throws {UsageError} when there is none, or none with every migration
 */
export async function openGatewayDatabase(): Promise<GatewayDatabase> {
  const { DATABASE_URL, CROSSWARD_DATA_DIR } = process.env;
  const { databaseUrl, dataDirectory } = readEnvironment({ DATABASE_URL, CROSSWARD_DATA_DIR });
  const options = { databaseUrl: databaseUrl?.reveal(), dataDir: resolve(dataDirectory) };
  const name = databaseName(options);
  if (databaseUrl === undefined && !existsSync(embeddedFiles(options.dataDir))) {
    throw new UsageError(
      `There is no database: DATABASE_URL is not set, and the data directory ${options.dataDir} holds none. ` +
        'Set DATABASE_URL or CROSSWARD_DATA_DIR as for the gateway, or start the gateway first.',
    );
  }
  const database = await openDatabase(options);
  try {
    if (await migrationsApplied(database, migrationSets(connectors))) return { database, name };
    throw new UsageError(
      `No gateway of this version has been started on ${name}. Start it first, or name another one.`,
    );
  } catch (error) {
    await database.close();
    throw error;
  }
}

/** Runs it on the gateway's database, says which one that is, and closes it. */
export async function withDatabase<Result>(output: Output, run: (db: Db) => Promise<Result>): Promise<Result> {
  const { database, name } = await openGatewayDatabase();
  try {
    output.err(`Looking at ${name}.\n`);
    return await run(createDb(database));
  } finally {
    await database.close();
  }
}
