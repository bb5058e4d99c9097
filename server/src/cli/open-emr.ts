import type { PostgresPool } from 'kysely';
import { demoConfigurationPath } from '../config/demo.ts';
import { type LoadedEmr, loadEmr } from '../config/load.ts';
import type { Database } from '../db/database.ts';
import { type BoundConnector, bindConnector } from '../ehr/bind-connector.ts';
import { connectors } from '../ehr/connectors.ts';
import { createEhrHttp } from '../ehr/guard/ehr-http.ts';
import { httpSettings } from '../ehr/guard/settings.ts';
import { UsageError } from './exit-codes.ts';
import { openGatewayDatabase } from './gateway-database.ts';

/** Its connector, and the HTTP connections that it uses. */
export interface BoundEmr extends BoundConnector {
  close(): Promise<void>;
}

export interface EmrOptions {
  readonly config?: string;
  readonly emr?: string;
}

/**
 * Loads the chosen EHR from the configuration of `--config`, otherwise of `CROSSWARD_CONFIG`, otherwise of the demo.
 * Secrets of other parts of the configuration need not be set.
 */
export async function chooseEmr({ config, emr: id }: EmrOptions): Promise<LoadedEmr> {
  const path = config ?? (process.env.CROSSWARD_CONFIG || demoConfigurationPath);
  return loadEmr({ path, connectors, environment: process.env }, (ids) => named(ids, id));
}

function named(ids: readonly string[], id: string | undefined): string {
  const [only, ...more] = ids;
  const found = id === undefined && more.length === 0 ? only : ids.find((it) => it === id);
  if (found !== undefined) return found;
  const all = ids.join(', ');
  throw new UsageError(
    id === undefined ? `Choose an EHR with --emr: ${all}.` : `The configuration has no EHR ${id}. Known EHRs: ${all}.`,
  );
}

/** Opens the gateway's database for a connector that stores its data in it. */
export async function openDatabaseFor({ module }: LoadedEmr): Promise<Database | undefined> {
  return module.migrations ? (await openGatewayDatabase([module])).database : undefined;
}

export async function bindEmr({ emr, module }: LoadedEmr, database: PostgresPool | undefined): Promise<BoundEmr> {
  const http = createEhrHttp(await httpSettings(emr.connection));
  const context = {
    emr: emr.id,
    settings: emr.settings,
    careUnits: emr.care_units.map(({ id, time_zone, settings }) => ({ id, timeZone: time_zone, settings })),
    http,
  };
  return { ...bindConnector(module, context, database), close: () => http.close() };
}
