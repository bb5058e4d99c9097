import { Command } from 'commander';
import { checkConnection } from '../ehr/check-connection.ts';
import { reportOf } from '../ehr/emr-report.ts';
import { markdownOf } from './emr-report-text.ts';
import { exitCodes } from './exit-codes.ts';
import { chooseEmr, type EmrOptions, openDatabaseFor } from './open-emr.ts';
import type { Output } from './output.ts';

export function emrReportCommand(output: Output, end: (exitCode: number) => void): Command {
  return new Command('report')
    .description(
      'Check an EHR and print a report in Markdown to hand over: what works, findings, settings, no secrets.',
    )
    .option('-c, --config <file>', 'configuration file (default: CROSSWARD_CONFIG, otherwise the demo)')
    .option('-e, --emr <id>', 'EHR id; required if the configuration has several')
    .action(async (options: EmrOptions) => {
      const chosen = await chooseEmr(options);
      const database = await openDatabaseFor(chosen);
      try {
        const report = reportOf(chosen.emr, await checkConnection(chosen, database?.pool), new Date());
        output.out(markdownOf(report));
        end(report.isWell ? exitCodes.fine : exitCodes.failed);
      } finally {
        await database?.close();
      }
    });
}
