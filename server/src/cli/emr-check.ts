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
    .description('Check the server behind a connection: its capabilities and the recommended settings.')
    .option('-c, --config <file>', 'configuration file (default: CROSSWARD_CONFIG, otherwise the demo)')
    .option('-e, --emr <id>', 'EHR id; required if the configuration has several')
    .option('--json <file>', 'also write the findings as JSON; use - for JSON on standard output instead of text')
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
      // Probe before opening, so that a rejected connection is reported as a finding.
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
