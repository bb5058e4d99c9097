import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { isAbsolute, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Command } from 'commander';
import { UsageError } from './exit-codes.ts';
import type { Output } from './output.ts';

const template = new URL('./init/crossward.yaml', import.meta.url);
const schema = fileURLToPath(new URL('../../config.schema.json', import.meta.url));

export function initCommand(output: Output): Command {
  return new Command('init')
    .description('Write a commented configuration, and a file with new secrets for it.')
    .argument('[folder]', 'where to write them', '.')
    .action(async (folder: string) => {
      const [configuration, variables] = [join(folder, 'crossward.yaml'), join(folder, 'crossward.env')];
      const existing = [configuration, variables].filter((path) => existsSync(path));
      if (existing.length > 0) throw new UsageError(`${existing.join(' and ')}: exists, and is not overwritten.`);
      await mkdir(folder, { recursive: true });
      const text = await readFile(template, 'utf8');
      const forEditors = `# yaml-language-server: $schema=${relative(folder, schema).replaceAll('\\', '/')}\n`;
      await writeFile(configuration, forEditors + text, { flag: 'wx' });
      await writeFile(variables, secrets(configuration), { flag: 'wx', mode: 0o600 });
      output.out(nextSteps(configuration, variables));
    });
}

/** Lines that a shell, systemd (`EnvironmentFile`) and container engines (`--env-file`) read in the same way. */
function secrets(configuration: string): string {
  return `# Only the gateway needs this file. Keep a copy of CROSSWARD_SECRET_KEY: without it, stored data cannot be decrypted.
CROSSWARD_CONFIG=${configuration}
CROSSWARD_SECRET_KEY=${randomBytes(32).toString('base64')}
BOOKING_APP_SECRET=${randomBytes(32).toString('base64url')}
# PostgreSQL. Without it, the data is in an embedded database, for trying out.
#DATABASE_URL=postgres://crossward:password@127.0.0.1:5432/crossward
`;
}

function nextSteps(configuration: string, variables: string): string {
  return `${configuration}: the configuration, with a sandbox EHR to begin with
${variables}: its secrets, readable by you only

  set -a; . ${isAbsolute(variables) ? variables : `./${variables}`}; set +a
  npx crossward config check
  npx crossward start
`;
}
