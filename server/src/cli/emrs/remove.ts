import { Command } from 'commander';
import { removeEmr } from '../../console/ehrs/emr-actions.ts';
import type { Output } from '../output.ts';
import { type ConfigOption, configOption, isRejected, withinSeconds, withStoredEmrs } from './administration.ts';

export function emrRemoveCommand(output: Output, end: (exitCode: number) => void): Command {
  return new Command('remove')
    .description('Remove an EHR from the database, with its secrets. Clients keep its grants, should it come back.')
    .argument('<emr>', 'EHR id')
    .option(
      '--force',
      'also without a pause, and if writes, codes or holds are open there: they are left to operators',
      false,
    )
    .option(...configOption)
    .action(async (id: string, { force, ...options }: ConfigOption & { readonly force: boolean }) => {
      await withStoredEmrs(output, options, async (work) => {
        const result = await removeEmr(work, { id }, force);
        if (isRejected(output, end, id, result, '--force leaves that to operators.\n')) return;
        output.out(`The EHR ${id} is removed. ${withinSeconds}`);
      });
    });
}
