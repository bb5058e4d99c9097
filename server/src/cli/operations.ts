import { Command } from 'commander';
import { inTransactionOrUnknown } from '../db/transactions.ts';
import { dropMessages, dropWarning } from '../unfinished-writes/advice.ts';
import { dropWrite, findOpenWrite, listOpenWrites, type OpenWrite, tryNow } from '../unfinished-writes/operator.ts';
import { writeKinds } from '../write-kinds.ts';
import { columnHelp } from './column-help.ts';
import { exitCodes, UsageError } from './exit-codes.ts';
import { withDatabase } from './gateway-database.ts';
import { describeOperation } from './operation-report.ts';
import { operationsCompareCommand } from './operations-compare.ts';
import type { Output } from './output.ts';
import { type JsonOption, jsonOption, printJson, snakeCase } from './print-json.ts';

/** Maximum number of operations listed. */
const mostListed = 500;

export function operationsCommand(output: Output, end: (exitCode: number) => void): Command {
  const operations = new Command('operations').description('Manage write operations that have not completed.');
  operations
    .command('list')
    .description('List operations that are pending, monitored or suspended. Shows no patient data.')
    .option(...jsonOption)
    .addHelpText(
      ...columnHelp('id', 'EHR/care unit', 'kind', 'state', 'age', 'failures', 'last failure', 'next attempt'),
    )
    .action(async ({ json }: JsonOption) => {
      const found = await withDatabase(output, (db) => listOpenWrites(db, mostListed + 1));
      const shown = found.slice(0, mostListed);
      if (json) printJson(output, shown.map(snakeCase));
      else output.out(found.length === 0 ? 'No open operations.\n' : shown.map(line).join(''));
      if (found.length > mostListed)
        output.err(`Only the first ${mostListed} are shown: suspended ones first, then the oldest.\n`);
    });
  operations
    .command('show')
    .description('Show the details of an operation and what to do.')
    .argument('<id>', 'operation id from `list` or the log')
    .option(...jsonOption)
    .action(async (id: string, { json }: JsonOption) => {
      const found = await withDatabase(output, (db) => findOpenWrite(db, id));
      if (!found) output.err('No open operation has this id.\n');
      else if (json) printJson(output, snakeCase(found));
      else output.out(describeOperation(found));
      end(found ? exitCodes.fine : exitCodes.failed);
    });
  operations
    .command('retry')
    .description('Try an operation now, or resume a suspended one after its cause was fixed.')
    .argument('<id>', 'operation id from `list`')
    .action(async (id: string) => {
      const isTakenUp = await withDatabase(output, (db) => inTransactionOrUnknown(db, (tx) => tryNow(tx, id)));
      if (isTakenUp)
        output.out('The operation is due. A running gateway tries it within seconds, if the EHR can be reached.\n');
      else output.err('No operation with this id waits: it has ended, or a gateway is working on it.\n');
      end(isTakenUp ? exitCodes.fine : exitCodes.failed);
    });
  operations
    .command('drop')
    .description('End an operation without completing it. Changes already made in the EHR remain.')
    .argument('<id>', 'operation id from `list`')
    .option('--yes', 'confirm that you checked the EHR and nothing is left to do')
    .action(async (id: string, { yes }: { readonly yes?: true }) => {
      if (!yes) throw new UsageError(`Nothing was changed. ${dropWarning} Then run the command again with --yes.`);
      const outcome = await withDatabase(output, (db) => dropWrite(db, writeKinds, id));
      const isDropped = outcome === 'dropped';
      output[isDropped ? 'out' : 'err'](`${dropMessages[outcome]}\n`);
      end(isDropped ? exitCodes.fine : exitCodes.failed);
    });
  operations.addCommand(operationsCompareCommand(output, end));
  return operations;
}

function line(operation: OpenWrite): string {
  const { id, emr, careUnitId, kind, state, ageSeconds, failures, lastFailure, nextAttemptAt } = operation;
  const next = nextAttemptAt?.toISOString() ?? 'none';
  const failureText = `failures ${failures}  last failure ${lastFailure ?? 'none'}`;
  return `${id}  ${emr}/${careUnitId}  ${kind}  ${state}  age ${ageSeconds} s  ${failureText}  next ${next}\n`;
}
