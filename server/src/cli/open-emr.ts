import { resolve } from 'node:path';
import type { ConnectorContext, ConnectorModule } from '@crossward/connector-kit';
import type { PostgresPool } from 'kysely';
import type { Configuration, ConfiguredEmr } from '../config/configuration.ts';
import { demoConfigurationPath } from '../config/demo.ts';
import { readEnvironment } from '../config/environment.ts';
import { loadConfiguration } from '../config/load.ts';
import { type Database, openDatabase } from '../db/database.ts';
import { migrate } from '../db/migrate.ts';
import { migrationSets } from '../db/migration-sets.ts';
import { connectors } from '../ehr/connectors.ts';
import { createEhrHttp } from '../ehr/guard/ehr-http.ts';
import { httpSettings } from '../ehr/guard/settings.ts';
import { UsageError } from './exit-codes.ts';

/** The EHR that a command is about. */
export interface ChosenEmr {
  readonly emr: ConfiguredEmr;
  readonly module: ConnectorModule;
}

/** One connection to it, with what a connector is given. */
export interface OpenContext {
  readonly context: ConnectorContext<unknown>;
  close(): Promise<void>;
}

export interface EmrOptions {
  readonly config?: string;
  readonly emr?: string;
}

/** The configuration named by `--config`, else by `CROSSWARD_CONFIG`, else the demo's. */
export async function chooseEmr({ config, emr: id }: EmrOptions): Promise<ChosenEmr> {
  const path = config ?? (process.env.CROSSWARD_CONFIG || demoConfigurationPath);
  const configuration = await loadConfiguration({ path, connectors, environment: process.env });
  const emr = named(configuration, id);
  const module = connectors.find(({ name }) => name === emr.connector);
  if (!module) throw new UsageError(`No connector is named ${emr.connector}.`);
  return { emr, module };
}

function named({ emrs }: Configuration, id: string | undefined): ConfiguredEmr {
  const ids = emrs.map((emr) => emr.id).join(', ');
  const [only, ...more] = emrs;
  const found = id === undefined && more.length === 0 ? only : emrs.find((emr) => emr.id === id);
  if (found) return found;
  throw new UsageError(
    id === undefined ? `Which EHR? Name it with --emr: ${ids}.` : `The configuration has no EHR ${id}, only: ${ids}.`,
  );
}

/** A database, for a connector that keeps its data in the gateway's. */
export async function openDatabaseFor({ module }: ChosenEmr): Promise<Database | undefined> {
  return module.migrations ? openGatewayDatabase() : undefined;
}

/** The gateway's own, as the gateway opens it, with every migration applied. */
export async function openGatewayDatabase(): Promise<Database> {
  const { databaseUrl, dataDirectory } = readEnvironment({ ...process.env, CROSSWARD_CONFIG: undefined });
  const database = await openDatabase({ databaseUrl: databaseUrl?.reveal(), dataDir: resolve(dataDirectory) });
  try {
    await migrate(database, migrationSets(connectors));
  } catch (error) {
    await database.close();
    throw error;
  }
  return database;
}

const noDatabase: PostgresPool = {
  options: {},
  connect: () => Promise.reject(new Error('A connector without migrations has no database.')),
  end: () => Promise.resolve(),
};

export async function openContext({ emr }: ChosenEmr, database: PostgresPool | undefined): Promise<OpenContext> {
  const http = createEhrHttp(await httpSettings(emr.connection));
  return {
    context: {
      emr: emr.id,
      settings: emr.settings,
      careUnits: emr.care_units.map(({ id, time_zone, settings }) => ({ id, timeZone: time_zone, settings })),
      http,
      database: database ?? noDatabase,
    },
    close: () => http.close(),
  };
}
