import { demoConfigurationPath } from '../config/file/demo.ts';
import { loadEmr } from '../config/file/load.ts';
import type { Database } from '../db/database.ts';
import type { ChosenEmr } from '../ehr/check-connection.ts';
import { connectors } from '../ehr/connectors.ts';
import { UsageError } from './exit-codes.ts';
import { openGatewayDatabase } from './gateway-database.ts';

export interface EmrOptions {
  readonly config?: string;
  readonly emr?: string;
}

/**
 * Loads the chosen EHR from the configuration of `--config`, otherwise of `CROSSWARD_CONFIG`, otherwise of the demo.
 * Secrets of other parts of the configuration need not be set.
 */
export async function chooseEmr({ config, emr: id }: EmrOptions): Promise<ChosenEmr> {
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
export async function openDatabaseFor({ module }: ChosenEmr): Promise<Database | undefined> {
  return module.migrations ? (await openGatewayDatabase([module])).database : undefined;
}
