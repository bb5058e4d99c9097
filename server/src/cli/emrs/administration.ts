import { demoConfigurationPath } from '../../config/file/demo.ts';
import { type Loaded, loadWithoutSecrets } from '../../config/file/load.ts';
import type { Mistake } from '../../config/mistakes/mistake.ts';
import { type AroundEmrs, emrMistakes } from '../../config/one-emr.ts';
import { NotPossible } from '../../console/audit/act.ts';
import { type EmrAdministration, rejectionText } from '../../console/ehrs/emr-actions.ts';
import type { Database } from '../../db/database.ts';
import { createDb } from '../../db/kysely.ts';
import { connectors } from '../../ehr/connectors.ts';
import { currentKeyRing } from '../current-key-ring.ts';
import { exitCodes } from '../exit-codes.ts';
import { openGatewayDatabase } from '../gateway-database.ts';
import type { Output } from '../output.ts';

export const configOption = [
  '-c, --config <file>',
  'configuration file (default: CROSSWARD_CONFIG, otherwise the demo)',
] as const;

export interface ConfigOption {
  readonly config?: string;
}

/** What a command on stored EHRs works with. */
export interface StoredEmrWork extends EmrAdministration, Pick<Loaded, 'file' | 'connectors'> {
  readonly database: Database;
}

/** Reads the configuration file, of which no secret must be set, and opens the gateway's database. */
export async function withStoredEmrs<Result>(
  output: Output,
  { config }: ConfigOption,
  work: (parts: StoredEmrWork) => Promise<Result>,
): Promise<Result> {
  const path = config ?? (process.env.CROSSWARD_CONFIG || demoConfigurationPath);
  const loaded = await loadWithoutSecrets({ path, connectors, environment: process.env });
  const { database, name } = await openGatewayDatabase(loaded.connectors);
  try {
    output.err(`Using ${name}.\n`);
    const db = createDb(database);
    return await work({ db, database, keys: await currentKeyRing(db), ...loaded });
  } finally {
    await database.close();
  }
}

/** What is wrong with an EHR beside the others of this configuration file. */
export function mistakesBeside(
  { file, connectors: known }: Pick<StoredEmrWork, 'file' | 'connectors'>,
  emr: unknown,
): readonly Mistake[] {
  return emrMistakes(emr, file as AroundEmrs, known);
}

export const withinSeconds = 'Running gateways use the change within 5 seconds.\n';

/** Ends a command whose change was not possible. Returns whether it was. */
export function isRejected(
  output: Output,
  end: (exitCode: number) => void,
  id: string,
  result: NotPossible | undefined,
  hint = '',
): result is NotPossible {
  if (!(result instanceof NotPossible)) return false;
  output.err(
    `EHR ${id}: nothing was changed. ${rejectionText(result)}\n${['open_work', 'not_paused'].includes(result.reason) ? hint : ''}`,
  );
  end(exitCodes.failed);
  return true;
}
