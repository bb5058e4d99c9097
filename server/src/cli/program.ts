import { readFileSync } from 'node:fs';
import { Command } from 'commander';
import { conformanceCommand } from './conformance.ts';
import { emrCheckCommand } from './emr-check.ts';
import { messagesCommand } from './messages.ts';
import { operationsCommand } from './operations.ts';
import type { Output } from './output.ts';
import { secretKeysCommand } from './secret-keys.ts';

const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));

/** The command line. Commands say how they ended through `end`; what they are given wrongly they throw. */
export function createProgram(output: Output, end: (exitCode: number) => void): Command {
  const program = new Command('crossward')
    .description('One uniform interface over many electronic health record systems.')
    .version(version)
    .configureOutput({ writeOut: output.out, writeErr: output.err })
    .showHelpAfterError('(--help shows what there is)')
    .addHelpText('after', exitCodeHelp)
    .exitOverride();
  const emr = new Command('emr').description('Look after the connections to EHRs.');
  emr.addCommand(emrCheckCommand(output, end));
  program.addCommand(conformanceCommand(output, end));
  program.addCommand(emr);
  const messages = messagesCommand(output, end);
  program.addCommand(messages);
  const operations = operationsCommand(output, end);
  program.addCommand(operations);
  const secretKeys = secretKeysCommand(output, end);
  program.addCommand(secretKeys);
  const groups = [emr, messages, operations, secretKeys];
  for (const command of [...program.commands, ...groups.flatMap(({ commands }) => commands)])
    command.copyInheritedSettings(program);
  return program;
}

const exitCodeHelp = `
Exit codes:
  0  all is well
  1  something that was checked is not as it should be
  2  the command, the configuration or the database has to be put right`;
