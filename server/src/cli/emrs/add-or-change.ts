import { Command } from 'commander';
import { isMapping, type Mistake } from '../../config/mistakes/mistake.ts';
import { configuredEmr, emrMistakeText, onlyEmr } from '../../config/one-emr.ts';
import { addEmr, changeEmr, openEmr } from '../../console/ehrs/emr-actions.ts';
import { checkConnection, isConnectionWell } from '../../ehr/check-connection.ts';
import { neededSecrets } from '../../ehr/stored/kept-secrets.ts';
import { readStoredEmrs, type SecretsByName, type StoredEmr } from '../../ehr/stored/stored-emrs.ts';
import { ConfigurationError } from '../../startup/configuration-error.ts';
import { formatCheck } from '../emr-check-report.ts';
import { printTemplate } from '../emr-templates.ts';
import { exitCodes, UsageError } from '../exit-codes.ts';
import type { Output } from '../output.ts';
import {
  type ConfigOption,
  configOption,
  isRejected,
  mistakesBeside,
  type StoredEmrWork,
  withinSeconds,
  withStoredEmrs,
} from './administration.ts';
import {
  assertOneInput,
  type InputOptions,
  readEmrs,
  readSecrets,
  secretsOfEnvironment,
  type WrittenEmr,
} from './read-input.ts';

const explanation = `
The input is YAML or JSON: one EHR, or \`emrs\` with a list, as in the configuration file and as \`emr export\` prints it.
A secret is { env: NAME }. Its value comes from --secrets, otherwise from the environment of this command. It is
encrypted in the database and not shown again.`;

const keptExplanation = `
A stored secret stays, whatever the environment has, until --secrets replaces it, unless the EHR has another connector or an address that it did not have: then all
secrets are needed again.`;

const sameEmrHint = 'If it is, --force opens it.\n';

interface WriteOptions extends ConfigOption, InputOptions {
  readonly check: boolean;
}

interface AddOptions extends WriteOptions {
  readonly draft?: true;
  readonly force: boolean;
  readonly template?: string;
}

interface ChangeOptions extends WriteOptions {
  readonly force: boolean;
}

/** An EHR without mistakes. */
interface Storable {
  readonly id: string;
  readonly definition: unknown;
  readonly secrets: SecretsByName;
}

export function emrAddCommand(output: Output, end: (exitCode: number) => void): Command {
  return withInput(new Command('add'))
    .description('Store an EHR in the database, after a check of its connection. No restart is needed.')
    .option('--draft', 'store it without opening it: only checks call it until `emr open`')
    .option('--template <name>', 'print a template to begin with, and store nothing; `emr templates` lists them')
    .option('--force', 'also if writes, codes or holds are open under the id: it is the same EHR', false)
    .addHelpText('after', explanation)
    .action(async ({ draft, template, force, ...options }: AddOptions) => {
      if (template !== undefined) return printTemplate(output, template);
      const { written, fromFile } = await readInput(output, options);
      await withStoredEmrs(output, options, async (work) => {
        const emrs = written.map((it) => storable(work, it, fromFile));
        assertNotInFile(work, emrs);
        if (!(await areWell(output, work, emrs, options))) return end(exitCodes.failed);
        for (const { secrets, ...facts } of emrs) {
          const result = await addEmr(work, { ...facts, isOpen: !draft }, secrets, force);
          if (isRejected(output, end, facts.id, result, sameEmrHint)) return;
          output.out(`The EHR ${facts.id} is stored${draft ? ' as a draft' : ''}. ${draft ? '\n' : withinSeconds}`);
        }
      });
    });
}

export function emrChangeCommand(output: Output, end: (exitCode: number) => void): Command {
  return withInput(new Command('change'))
    .description('Replace what is stored of an EHR, and the secrets that are given, after a check of its connection.')
    .option(
      '--force',
      'also without a pause, and if writes, codes or holds are open where it would not be any more',
      false,
    )
    .addHelpText('after', `${explanation}\n${keptExplanation}`)
    .action(async ({ force, ...options }: ChangeOptions) => {
      const { written, fromFile } = await readInput(output, options);
      await withStoredEmrs(output, options, async (work) => {
        const { emrs: known } = await readStoredEmrs(work.db, work.keys);
        const emrs = written.map((it) => {
          const former = storedOf(known, it);
          return { ...storable(work, it, fromFile, former), version: former.version, isOpen: former.isOpen };
        });
        if (!(await areWell(output, work, emrs, options))) return end(exitCodes.failed);
        for (const { secrets, ...facts } of emrs) {
          const result = await changeEmr(work, facts, secrets, force);
          if (isRejected(output, end, facts.id, result, '--force leaves that to operators.\n')) return;
          output.out(`The EHR ${facts.id} is changed. ${facts.isOpen ? withinSeconds : 'It is a draft.\n'}`);
        }
      });
    });
}

export function emrOpenCommand(output: Output, end: (exitCode: number) => void): Command {
  return new Command('open')
    .description('Open a draft: gateways connect to it, and clients can be granted it.')
    .argument('<emr>', 'EHR id')
    .option('--no-check', 'do not connect to the EHR first')
    .option('--force', 'also if writes, codes or holds are open under the id: it is the same EHR', false)
    .option(...configOption)
    .action(async (id: string, { force, ...options }: Omit<ChangeOptions, keyof InputOptions>) => {
      await withStoredEmrs(output, options, async (work) => {
        const emr = (await readStoredEmrs(work.db, work.keys)).emrs.find((it) => it.id === id);
        if (!emr) throw new UsageError(`Nothing was changed. The database has no EHR ${id}.`);
        const { definition, version } = emr;
        const fail = (mistakes: readonly Mistake[]) =>
          new ConfigurationError(mistakes.map((it) => `EHR ${id}: ${emrMistakeText(it)}`));
        const found = storable(work, { definition, fail }, {}, emr);
        assertNotInFile(work, [found]);
        if (!(await areWell(output, work, [found], options))) return end(exitCodes.failed);
        const result = await openEmr(work, { id, version }, force);
        if (isRejected(output, end, id, result, sameEmrHint)) return;
        output.out(`The EHR ${id} is open. ${withinSeconds}`);
      });
    });
}

function withInput(command: Command): Command {
  return command
    .option('--from <file>', 'the EHR, or several; - for standard input')
    .option('--secrets <file>', 'YAML or JSON with secrets by name, such as TOKEN: "…"; - for standard input')
    .option('--no-check', 'do not connect to the EHR first')
    .option(...configOption);
}

async function readInput(output: Output, options: InputOptions) {
  const { from } = options;
  if (from === undefined) throw new UsageError('Name the file with the EHR: --from. Nothing was changed.');
  assertOneInput(options);
  const written = await readEmrs(output, from);
  return { written, fromFile: await readSecrets(output, options.secrets) };
}

/** @throws {ConfigurationError} with the mistakes of the EHR, and {UsageError} if it needs secrets that nobody has given */
function storable(
  work: StoredEmrWork,
  { definition, fail }: WrittenEmr,
  fromFile: SecretsByName,
  former?: StoredEmr,
): Storable {
  const mistakes = mistakesBeside(work, definition);
  if (mistakes.length > 0) throw fail(mistakes);
  const { id } = definition as { readonly id: string };
  const unnamed = neededSecrets(definition, fromFile, former).missing;
  // A variable of the shell does not replace what is stored: it may be of another EHR.
  const given = { ...secretsOfEnvironment(unnamed), ...fromFile };
  const { secrets, missing, isElsewhere } = neededSecrets(definition, given, former);
  if (missing.length === 0) return { id, definition, secrets };
  const why = isElsewhere ? ', because the EHR has another connector or address' : '';
  throw new UsageError(
    `EHR ${id}: nothing was changed. Give the values of ${missing.join(', ')} with --secrets or in the environment${why}.`,
  );
}

function storedOf(known: readonly StoredEmr[], { definition, fail }: WrittenEmr): StoredEmr {
  const id = isMapping(definition) ? definition.id : undefined;
  const found = known.find((it) => it.id === id);
  if (found) return found;
  throw fail([{ path: [...onlyEmr, 'id'], at: 'value', text: 'is no EHR of the database; `emr list` has their ids' }]);
}

function assertNotInFile({ file }: Pick<StoredEmrWork, 'file'>, emrs: readonly Pick<Storable, 'id'>[]): void {
  const taken = emrs.find(({ id }) => file.emrs.some((emr) => emr.id === id));
  if (!taken) return;
  throw new UsageError(
    `EHR ${taken.id}: nothing was changed. The configuration file has an EHR with this id; an id is in one place only.`,
  );
}

/** Checks the connections and prints what was found, unless `--no-check` is given. */
async function areWell(
  output: Output,
  { connectors, database }: StoredEmrWork,
  emrs: readonly Storable[],
  { check }: { readonly check: boolean },
): Promise<boolean> {
  if (!check) return true;
  let areAll = true;
  for (const { definition, secrets } of emrs) {
    const emr = configuredEmr(definition, secrets);
    const module = connectors.find(({ name }) => name === emr.connector);
    if (!module) throw new Error(`No connector is named ${emr.connector}`);
    const found = await checkConnection({ emr, module }, database.pool);
    output.err(formatCheck(found));
    areAll &&= isConnectionWell(found);
  }
  if (!areAll) output.err('Nothing was changed. --no-check stores it although the check has found a problem.\n');
  return areAll;
}
