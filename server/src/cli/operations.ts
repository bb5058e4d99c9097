import { Command } from 'commander';
import {
  type Dropped,
  dropOperation,
  findOpenOperation,
  listOpenOperations,
  type OpenOperation,
  retrySuspended,
} from '../operations/operator.ts';
import { exitCodes, UsageError } from './exit-codes.ts';
import { withDatabase } from './gateway-database.ts';
import { describeOperation } from './operation-report.ts';
import type { Output } from './output.ts';

/** More than anybody reads. */
const mostListed = 500;

export function operationsCommand(output: Output, end: (exitCode: number) => void): Command {
  const operations = new Command('operations').description('Look after writes to EHRs that have not come to rest.');
  operations
    .command('list')
    .description('List those that have not ended, are monitored or are suspended. Nothing of a patient is shown.')
    .action(async () => {
      const found = await withDatabase(output, (db) => listOpenOperations(db, mostListed + 1));
      output.out(found.length === 0 ? 'Every operation has ended.\n' : found.slice(0, mostListed).map(line).join(''));
      if (found.length > mostListed)
        output.err(`Only the first ${mostListed} are shown: the suspended, then the oldest.\n`);
    });
  operations
    .command('show')
    .description('Show one with all its times, what it means, and what to do.')
    .argument('<id>', 'of the operation, as `list` and the log show it')
    .action(async (id: string) => {
      const found = await withDatabase(output, (db) => findOpenOperation(db, id));
      if (found) output.out(describeOperation(found));
      else output.err('No operation with this id is open: it has ended, or there was none.\n');
      end(found ? exitCodes.fine : exitCodes.failed);
    });
  operations
    .command('retry')
    .description('Have a suspended one taken up again, when what kept it from ending has been put right.')
    .argument('<id>', 'of the operation, as `list` shows it')
    .action(async (id: string) => {
      const isTakenUp = await withDatabase(output, (db) => retrySuspended(db, id));
      if (isTakenUp) output.out('The operation is due; a running gateway takes it up within seconds.\n');
      else output.err('No operation with this id is suspended. One that is not suspended is tried again by itself.\n');
      end(isTakenUp ? exitCodes.fine : exitCodes.failed);
    });
  operations
    .command('drop')
    .description('Give one up for good. What the EHR has done of it stays as it is.')
    .argument('<id>', 'of the operation, as `list` shows it')
    .option('--yes', 'the EHR has been looked at, and nothing is left to be done')
    .action(async (id: string, { yes }: { readonly yes?: true }) => {
      if (!yes) throw new UsageError(`Nothing was changed. ${warning} If that is right, add --yes.`);
      const outcome = await withDatabase(output, (db) => dropOperation(db, id));
      const isDropped = outcome === 'dropped';
      output[isDropped ? 'out' : 'err'](`${told[outcome]}\n`);
      end(isDropped ? exitCodes.fine : exitCodes.failed);
    });
  return operations;
}

const warning =
  'The gateway forgets a dropped operation: what the EHR has done of it stays as it is, and is neither finished nor ' +
  'undone. Look at the appointments in the EHR first.';

const told: Record<Dropped, string> = {
  dropped:
    'The operation is dropped. What the EHR has done of it stays as it is. A code that it was confirming waits again.',
  'being worked on': 'Nothing was changed: somebody is at work on this operation. Try again in a minute.',
  'not found': 'No operation with this id is open: it has ended, or there was none.',
};

function line(operation: OpenOperation): string {
  const { id, emr, careUnitId, kind, state, ageSeconds, failures, lastFailure, nextAttemptAt } = operation;
  const next = nextAttemptAt?.toISOString() ?? 'none';
  const trouble = `failures ${failures}  last failure ${lastFailure ?? 'none'}`;
  return `${id}  ${emr}/${careUnitId}  ${kind}  ${state}  age ${ageSeconds} s  ${trouble}  next ${next}\n`;
}
