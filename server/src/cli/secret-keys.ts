import { Command } from 'commander';
import { inTransactionOrUnknown } from '../db/transactions.ts';
import { listKnownKeys, retireKey } from '../secret-keys/require-known-keys.ts';
import { columnHelp } from './column-help.ts';
import { exitCodes } from './exit-codes.ts';
import { withDatabase } from './gateway-database.ts';
import type { Output } from './output.ts';
import { type JsonOption, jsonOption, printJson } from './print-json.ts';

export function secretKeysCommand(output: Output, end: (exitCode: number) => void): Command {
  const secretKeys = new Command('secret-keys').description('Manage the secret keys that the database was used with.');
  secretKeys
    .command('list')
    .description('List key ids. The keys themselves are never shown or stored.')
    .option(...jsonOption)
    .addHelpText(...columnHelp('id', 'first use', 'whether it is in use, or when it was replaced'))
    .action(async ({ json }: JsonOption) => {
      const keys = await withDatabase(output, listKnownKeys);
      if (json) {
        printJson(
          output,
          keys.map(({ id, first_used_at, replaced_at }) => ({ id, first_used_at, replaced_at })),
        );
        return;
      }
      if (keys.length === 0) output.out('The database was never used with a secret key.\n');
      for (const { id, first_used_at, replaced_at } of keys) {
        const state = replaced_at ? `replaced ${replaced_at.toISOString()}` : 'in use';
        output.out(`${id}  first used ${first_used_at.toISOString()}  ${state}\n`);
      }
    });
  secretKeys
    .command('retire')
    .description(
      'Retire a lost key. Codes, drafts, webhook endpoints and stored responses encrypted with it can never be read again.',
    )
    .argument('<id>', 'key id from `list` or the gateway log')
    .action(async (id: string) => {
      const isRetired = await withDatabase(output, (db) => inTransactionOrUnknown(db, (tx) => retireKey(tx, id)));
      if (isRetired) output.out('The key is retired. The gateway starts without it.\n');
      else output.err('The database does not require a secret key with this id.\n');
      end(isRetired ? exitCodes.fine : exitCodes.failed);
    });
  return secretKeys;
}
