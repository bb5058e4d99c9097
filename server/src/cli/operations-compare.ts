import { Command } from 'commander';
import { type CareUnitComparison, compareSince } from '../appointments/since-backup/compare.ts';
import type { ConfiguredEmr } from '../config/configuration.ts';
import { demoConfigurationPath } from '../config/file/demo.ts';
import { loadWithConnectors } from '../config/file/load.ts';
import type { Database } from '../db/database.ts';
import { createDb, type Db } from '../db/kysely.ts';
import { bindEmr, type ChosenEmr } from '../ehr/check-connection.ts';
import { connectors as builtIn } from '../ehr/connectors.ts';
import { causeOf } from '../ehr/guard/cause-of.ts';
import { readPauses } from '../ehr/pauses.ts';
import { sealedConnector } from '../ehr/sealed-connector.ts';
import type { KeyRing } from '../secrets/key-ring.ts';
import { ConfigurationError } from '../startup/configuration-error.ts';
import { countOpenWrites } from '../unfinished-writes/operator.ts';
import { columnHelp } from './column-help.ts';
import { comparisonAsJson, describeComparison, type EhrComparison, hasNoDifference } from './comparison-report.ts';
import { completeKeyRing } from './current-key-ring.ts';
import { exitCodes } from './exit-codes.ts';
import { openGatewayDatabase } from './gateway-database.ts';
import type { Output } from './output.ts';
import { type JsonOption, jsonOption, printJson } from './print-json.ts';
import { readInstant } from './read-time.ts';

interface Options extends JsonOption {
  readonly since: string;
  readonly config?: string;
}

const explanation = `
For a gateway whose database was restored from a backup. Prints what others have booked or changed in the EHRs since then,
and bookings of the gateway that the EHRs no longer have. Names no patient, and changes nothing. Run it where the gateway
runs, with the same environment variables.

Exit codes:
  0  everything was compared, and nothing differs
  1  something differs, or could not be compared
  2  the command cannot be used like this`;

export function operationsCompareCommand(output: Output, end: (exitCode: number) => void): Command {
  return new Command('compare')
    .description('Compare the appointments in the EHRs with what the gateway knows, after the restore of a backup.')
    .requiredOption('--since <time>', 'when the backup was made, with UTC offset, such as 2027-03-28T06:00+02:00')
    .option('-c, --config <file>', 'configuration file (default: CROSSWARD_CONFIG, otherwise the demo)')
    .option(...jsonOption)
    .addHelpText(
      ...columnHelp(
        'EHR/care unit',
        'appointment id in the EHR',
        'difference',
        'state, times and resource in the EHR',
        'what the gateway knows',
      ),
    )
    .addHelpText('after', explanation)
    .action(async ({ since, config, json }: Options) => {
      const compared = await compareAll(output, readInstant('--since', since), config);
      if (json) printJson(output, compared.map(comparisonAsJson));
      else output.out(compared.map(describeComparison).join(''));
      end(compared.every(hasNoDifference) ? exitCodes.fine : exitCodes.failed);
    });
}

async function compareAll(output: Output, since: Date, config: string | undefined): Promise<readonly EhrComparison[]> {
  const path = config ?? (process.env.CROSSWARD_CONFIG || demoConfigurationPath);
  const { configuration, connectors } = await loadWithConnectors({
    path,
    connectors: builtIn,
    environment: process.env,
  });
  const { database, name } = await openGatewayDatabase(connectors);
  try {
    output.err(`Using ${name}.\n`);
    const db = createDb(database);
    const keys = await completeKeyRing(db);
    const paused = new Set((await readPauses(db)).map(({ emr }) => emr));
    const unfinished = await unfinishedByEhr(db);
    return await Promise.all(
      configuration.emrs.map(async (emr) => {
        const about = { emr: emr.id, unfinished: unfinished.get(emr.id) ?? 0 };
        const module = connectors.find((it) => it.name === emr.connector);
        if (!module || paused.has(emr.id))
          return { ...about, careUnits: without(emr, 'operators have paused the EHR') };
        return { ...about, careUnits: await compareOne({ emr, module }, { database, db, keys, since }) };
      }),
    );
  } finally {
    await database.close();
  }
}

/** An operation that a gateway still works on can be why an appointment is not known yet. */
async function unfinishedByEhr(db: Db): Promise<ReadonlyMap<string, number>> {
  const counts = (await countOpenWrites(db)).filter(({ state }) => state !== 'monitored');
  return new Map(
    [...Map.groupBy(counts, ({ emr }) => emr)].map(([emr, group]) => [
      emr,
      group.reduce((sum, { count }) => sum + count, 0),
    ]),
  );
}

interface Around {
  readonly database: Database;
  readonly db: Db;
  readonly keys: KeyRing;
  readonly since: Date;
}

/** With connections of its own. An EHR that fails hides no other. */
async function compareOne(chosen: ChosenEmr, around: Around): Promise<readonly CareUnitComparison[]> {
  const { emr, module } = chosen;
  try {
    const { open, close } = await bindEmr(chosen, module.migrations ? around.database.pool : undefined);
    try {
      const ehr = {
        id: emr.id,
        connector: module.name,
        careUnits: emr.care_units.map(({ id, time_zone }) => ({ id, timeZone: time_zone })),
        calls: sealedConnector(await open(), around.keys, emr.id),
      };
      return await compareSince(around.db, ehr, around.since);
    } finally {
      await close();
    }
  } catch (error) {
    return without(emr, error instanceof ConfigurationError ? error.message : causeOf(error));
  }
}

function without(emr: ConfiguredEmr, why: string): readonly CareUnitComparison[] {
  return emr.care_units.map(({ id }) => ({ careUnitId: id, differences: [], notCompared: [`everything: ${why}`] }));
}
