import { Command } from 'commander';
import { checkConnection, type EmrCheck, isConnectionWell } from '../ehr/check-connection.ts';
import { formatCheck } from './emr-check-report.ts';
import { exitCodes } from './exit-codes.ts';
import { chooseEmr, type EmrOptions, openDatabaseFor } from './open-emr.ts';
import type { Output } from './output.ts';
import { type JsonOption, jsonOption, printJson } from './print-json.ts';

type Options = EmrOptions & JsonOption;

export function emrCheckCommand(output: Output, end: (exitCode: number) => void): Command {
  return new Command('check')
    .description('Check the server behind a connection: its capabilities and the recommended settings.')
    .option('-c, --config <file>', 'configuration file (default: CROSSWARD_CONFIG, otherwise the demo)')
    .option('-e, --emr <id>', 'EHR id; required if the configuration has several')
    .option(...jsonOption)
    .action(async (options: Options) => {
      const check = await checkEmr(options);
      if (options.json) printJson(output, check);
      else output.out(formatCheck(check));
      end(isConnectionWell(check) ? exitCodes.fine : exitCodes.failed);
    });
}

async function checkEmr(options: EmrOptions): Promise<EmrCheck> {
  const chosen = await chooseEmr(options);
  const database = await openDatabaseFor(chosen);
  try {
    return await checkConnection(chosen, database?.pool);
  } finally {
    await database?.close();
  }
}
