import { Command } from 'commander';
import { listKnownKeys, retireKey } from '../secret-keys/require-known-keys.ts';
import { exitCodes } from './exit-codes.ts';
import { withDatabase } from './gateway-database.ts';
import type { Output } from './output.ts';

export function secretKeysCommand(output: Output, end: (exitCode: number) => void): Command {
  const secretKeys = new Command('secret-keys').description(
    'Look after the secret keys that the database has been used with.',
  );
  secretKeys
    .command('list')
    .description('List their ids. No key is shown, and none is stored.')
    .action(async () => {
      const keys = await withDatabase(output, listKnownKeys);
      if (keys.length === 0) output.out('The database has not been used with a secret key.\n');
      for (const { id, first_used_at, replaced_at } of keys) {
        const state = replaced_at ? `replaced ${replaced_at.toISOString()}` : 'in use';
        output.out(`${id}  first used ${first_used_at.toISOString()}  ${state}\n`);
      }
    });
  secretKeys
    .command('retire')
    .description(
      'Give up what is left under a key that is lost. Codes, drafts and kept answers under it stay unreadable.',
    )
    .argument('<id>', 'of the key, as `list` and the gateway show it')
    .action(async (id: string) => {
      const isRetired = await withDatabase(output, (db) => retireKey(db, id));
      if (isRetired) output.out('The key is retired: a gateway starts without it.\n');
      else output.err('The database asks for no secret key with this id.\n');
      end(isRetired ? exitCodes.fine : exitCodes.failed);
    });
  return secretKeys;
}
