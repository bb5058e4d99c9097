import { Command, Option } from 'commander';
import { endSessionsOf, listSessions, type OpenSession } from '../console/accounts/open-sessions.ts';
import {
  changeRole,
  createOperator,
  disableOperator,
  type ListedOperator,
  listOperators,
  operatorNamePattern,
  resetOperator,
  UnprovenAccount,
} from '../console/accounts/operators.ts';
import { type Role, roles } from '../console/accounts/roles.ts';
import { linkMinutes, makeSignInLink } from '../console/sign-in/sign-in-links.ts';
import { columnHelp } from './column-help.ts';
import { configuredAccess } from './configured-access.ts';
import { currentKeyRing } from './current-key-ring.ts';
import { exitCodes, UsageError } from './exit-codes.ts';
import { withDatabase } from './gateway-database.ts';
import type { Output } from './output.ts';
import { type JsonOption, jsonOption, printJson, snakeCase } from './print-json.ts';
import { readNewPassword } from './read-password.ts';

const unprovenText =
  'The account was changed by somebody else than the console and commands of this version, and opens nothing. Nothing was changed. ' +
  'Decide its role, and give it new secrets with it: operators reset <name> --role <role>\n';

const noLinkTexts = {
  unknown: 'No account has this name. --role creates one.\n',
  disabled: 'The account is disabled.\n',
  unproven: unprovenText,
} as const;

export function operatorsCommand(output: Output, end: (exitCode: number) => void): Command {
  const operators = new Command('operators').description('Manage the accounts that can sign in to the console.');
  operators
    .command('create')
    .description(
      'Create an account. Asks for a password, or reads it from standard input, and prints the URI of its one-time codes.',
    )
    .argument('<name>', 'such as kari.nordmann')
    .addOption(roleOption())
    .action(async (name: string, { role }: { readonly role: Role }) => {
      assertName(name);
      const password = await readNewPassword(output);
      const uri = await withDatabase(output, async (db) =>
        createOperator(db, await currentKeyRing(db), { name, role, password }),
      );
      if (uri === undefined) output.err(`The name ${name} is taken. \`operators reset\` sets a new password.\n`);
      else output.out(enrolment(uri));
      end(uri === undefined ? exitCodes.failed : exitCodes.fine);
    });
  operators
    .command('sign-in-link')
    .description('Print a link with which an operator signs in once, without a password. It works for five minutes.')
    .argument('<name>', 'name from `list`, or a new one with --role')
    .addOption(new Option('--role <role>', 'create the account if there is none').choices(roles))
    .option('-c, --config <file>', 'configuration file (default: CROSSWARD_CONFIG, otherwise the demo)')
    .action(async (name: string, { role, config }: { readonly role?: Role; readonly config?: string }) => {
      assertName(name);
      const { consoleUrl } = await configuredAccess(config);
      if (consoleUrl === undefined) throw new UsageError('The configuration has no console: set console.url.');
      const link = await withDatabase(output, async (db) =>
        makeSignInLink(db, await currentKeyRing(db), { name, role }),
      );
      if (typeof link === 'string') {
        output.err(noLinkTexts[link]);
        return end(exitCodes.failed);
      }
      output.err(`Whoever opens this link within ${linkMinutes} minutes is signed in as ${name}. It works once:\n`);
      output.out(`${consoleUrl}/console/sign-in/link/${link.token}\n`);
    });
  operators
    .command('list')
    .description('List the accounts.')
    .option(...jsonOption)
    .addHelpText(...columnHelp('name', 'role', 'state', 'one-time codes', 'when it was created'))
    .action(async ({ json }: JsonOption) => {
      const found = await withDatabase(output, listOperators);
      if (json) printJson(output, found.map(snakeCase));
      else output.out(found.length === 0 ? 'No accounts.\n' : found.map(line).join(''));
    });
  operators
    .command('role')
    .description('Change the role of an account, also in its open sessions.')
    .argument('<name>', 'name from `list`')
    .addOption(roleOption())
    .action(async (name: string, { role }: { readonly role: Role }) => {
      const changed = await withDatabase(output, async (db) =>
        changeRole(db, await currentKeyRing(db), { name, role }),
      );
      if (changed === 'done') output.out(`The role is now ${role}.\n`);
      else output.err(changed === 'unproven' ? unprovenText : 'No account has this name.\n');
      end(changed === 'done' ? exitCodes.fine : exitCodes.failed);
    });
  operators
    .command('disable')
    .description('Disable an account and end its sessions. `reset` enables it again.')
    .argument('<name>', 'name from `list`')
    .action(async (name: string) => {
      const isDisabled =
        (await withDatabase(output, async (db) => disableOperator(db, await currentKeyRing(db), { name }))) === 'done';
      if (isDisabled) output.out('The account is disabled, and its sessions have ended.\n');
      else output.err('No enabled account has this name.\n');
      end(isDisabled ? exitCodes.fine : exitCodes.failed);
    });
  operators
    .command('reset')
    .description('Set a new password and new one-time codes, enable the account, and end its sessions.')
    .argument('<name>', 'name from `list`')
    .addOption(new Option('--role <role>', 'also change its role').choices(roles))
    .action(async (name: string, { role }: { readonly role?: Role }) => {
      const password = await readNewPassword(output);
      const uri = await withDatabase(output, async (db) =>
        resetOperator(db, await currentKeyRing(db), { name, password, role }),
      ).catch((error: unknown) => {
        throw error instanceof UnprovenAccount ? new UsageError(unprovenText.trim()) : error;
      });
      if (uri === undefined) output.err('No account has this name.\n');
      else output.out(enrolment(uri));
      end(uri === undefined ? exitCodes.failed : exitCodes.fine);
    });
  operators
    .command('sessions')
    .description('List the sessions that have not expired, also those of operators by OpenID Connect.')
    .option(...jsonOption)
    .addHelpText(...columnHelp('name', 'role', 'when it began', 'last request', 'when it ends at the latest'))
    .action(async ({ json }: JsonOption) => {
      const found = await withDatabase(output, (db) => listSessions(db));
      if (json) printJson(output, found.map(snakeCase));
      else output.out(found.length === 0 ? 'No sessions.\n' : found.map(sessionLine).join(''));
    });
  operators
    .command('end-sessions')
    .description('End the sessions of an operator, who can sign in again. `disable` prevents that for an account.')
    .argument('<name>', 'name from `list` or `sessions`')
    .action(async (name: string) => {
      const ended = await withDatabase(output, (db) => endSessionsOf(db, { name }));
      if (ended === undefined) output.err('No account and no session has this name.\n');
      else output.out(`${ended} ${ended === 1 ? 'session has' : 'sessions have'} ended.\n`);
      end(ended === undefined ? exitCodes.failed : exitCodes.fine);
    });
  return operators;
}

function roleOption(): Option {
  return new Option('--role <role>', 'what the operator may do').choices(roles).makeOptionMandatory();
}

function assertName(name: string): void {
  if (operatorNamePattern.test(name)) return;
  throw new UsageError(
    'A name has 1 to 63 lower-case letters, digits, dots, hyphens and underscores, and starts with a letter or digit.',
  );
}

function enrolment(uri: string): string {
  return `Add this URI to an authenticator app, for example as a QR code. It is not shown again:\n${uri}\n`;
}

function line({ name, role, hasTotp, isDisabled, createdAt }: ListedOperator): string {
  const codes = hasTotp ? 'one-time codes' : 'no one-time codes';
  return `${name}  ${role}  ${isDisabled ? 'disabled' : 'enabled'}  ${codes}  created ${createdAt.toISOString()}\n`;
}

function sessionLine({ name, role, startedAt, lastUsedAt, expiresAt }: OpenSession): string {
  const times = [`since ${startedAt.toISOString()}`, `last request ${lastUsedAt.toISOString()}`];
  return `${name}  ${role}  ${times.join('  ')}  ends by ${expiresAt.toISOString()}\n`;
}
