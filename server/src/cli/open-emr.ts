import { demoConfigurationPath } from '../config/file/demo.ts';
import { loadEmr, loadWithoutSecrets } from '../config/file/load.ts';
import { isMapping } from '../config/mistakes/mistake.ts';
import { type AroundEmrs, configuredEmr, emrMistakes, emrMistakeText } from '../config/one-emr.ts';
import type { Database } from '../db/database.ts';
import { createDb } from '../db/kysely.ts';
import type { ChosenEmr } from '../ehr/check-connection.ts';
import { connectors } from '../ehr/connectors.ts';
import { neededSecrets } from '../ehr/stored/kept-secrets.ts';
import { openRow, selectStored } from '../ehr/stored/stored-emrs.ts';
import { ConfigurationError } from '../startup/configuration-error.ts';
import { currentKeyRing } from './current-key-ring.ts';
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
  const source = { path, connectors, environment: process.env };
  const stored = id === undefined ? undefined : await storedEmr(await loadWithoutSecrets(source), id);
  return stored ?? loadEmr(source, (ids) => named(ids, id));
}

/** An EHR of the database. `undefined`: it has none with this id, or there is no database. */
async function storedEmr({ file, connectors: known }: KnownFile, id: string): Promise<ChosenEmr | undefined> {
  if (file.emrs.some((emr) => emr.id === id)) return undefined;
  const opened = await openGatewayDatabase().catch((error) => {
    if (error instanceof UsageError) return undefined;
    throw error;
  });
  if (!opened) return undefined;
  try {
    const db = createDb(opened.database);
    const row = await selectStored(db).where('id', '=', id).executeTakeFirst();
    const emr = row && openRow(await currentKeyRing(db), row);
    const module = known.find(({ name }) => isMapping(emr?.definition) && name === emr.definition.connector);
    if (!emr || !module) return undefined;
    const mistakes = emrMistakes(emr.definition, file as AroundEmrs, known).map(
      (it) => `EHR ${id}: ${emrMistakeText(it)}`,
    );
    if (mistakes.length > 0) throw new ConfigurationError(mistakes);
    const { secrets, missing } = neededSecrets(emr.definition, {}, emr);
    if (missing.length > 0) throw new ConfigurationError([`EHR ${id}: no secret is known for ${missing.join(', ')}`]);
    return { emr: configuredEmr(emr.definition, secrets), module };
  } finally {
    await opened.database.close();
  }
}

type KnownFile = Awaited<ReturnType<typeof loadWithoutSecrets>>;

function named(ids: readonly string[], id: string | undefined): string {
  const [only, ...more] = ids;
  const found = id === undefined && more.length === 0 ? only : ids.find((it) => it === id);
  if (found !== undefined) return found;
  const all = ids.join(', ');
  throw new UsageError(
    id === undefined
      ? `Choose an EHR with --emr${all === '' ? '' : `: ${all}`}.`
      : `The configuration has no EHR ${id}. Known EHRs: ${all}.`,
  );
}

/** Opens the gateway's database for a connector that stores its data in it. */
export async function openDatabaseFor({ module }: ChosenEmr): Promise<Database | undefined> {
  return module.migrations ? (await openGatewayDatabase([module])).database : undefined;
}
