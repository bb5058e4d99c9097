import { ConnectorError } from '@crossward/connector-kit';
import { Command } from 'commander';
import { type EmrCheck, formatCheck, isWell } from './emr-check-report.ts';
import { exitCodes } from './exit-codes.ts';
import { bindEmr, chooseEmr, type EmrOptions, openDatabaseFor } from './open-emr.ts';
import type { Output } from './output.ts';
import { writeJson } from './write-json.ts';

interface Options extends EmrOptions {
  readonly json?: string;
}

export function emrCheckCommand(output: Output, end: (exitCode: number) => void): Command {
  return new Command('check')
    .description('Look at the server behind a connection: what it can do, and which settings suit it.')
    .option('-c, --config <file>', 'configuration file; else CROSSWARD_CONFIG, else the demo')
    .option('-e, --emr <id>', 'the EHR; needed where there are several')
    .option('--json <file>', 'also write the findings as JSON; - for standard output instead of the text')
    .action(async (options: Options) => {
      const check = await checkEmr(options);
      if (options.json !== '-') output.out(formatCheck(check));
      if (options.json !== undefined) await writeJson(output, options.json, check);
      end(isWell(check) ? exitCodes.fine : exitCodes.failed);
    });
}

async function checkEmr(options: EmrOptions): Promise<EmrCheck> {
  const chosen = await chooseEmr(options);
  const { emr, module } = chosen;
  const database = await openDatabaseFor(chosen);
  try {
    const { probe: runProbe, open, close } = await bindEmr(chosen, database?.pool);
    try {
      // Before it is opened: a server that does not let us in is one of the findings.
      const probe = await runProbe();
      const found = { emr: emr.id, connector: module.name, ...(probe && { probe }) };
      try {
        const { capabilities, ...operations } = await open();
        return { ...found, claims: { ...capabilities, operations: Object.keys(operations) } };
      } catch (error) {
        if (!(error instanceof ConnectorError)) throw error;
        return { ...found, claims: null, error: `${error.kind}: ${error.message}` };
      }
    } finally {
      await close();
    }
  } finally {
    await database?.close();
  }
}
