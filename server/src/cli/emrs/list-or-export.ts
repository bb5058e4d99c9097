import { Command } from 'commander';
import { stringify } from 'yaml';
import { isMapping } from '../../config/mistakes/mistake.ts';
import { emrMistakeText, secretNames } from '../../config/one-emr.ts';
import { readStoredEmrs, type StoredEmr } from '../../ehr/stored/stored-emrs.ts';
import { columnHelp } from '../column-help.ts';
import { exitCodes } from '../exit-codes.ts';
import type { Output } from '../output.ts';
import { type JsonOption, jsonOption, printJson } from '../print-json.ts';
import {
  type ConfigOption,
  configOption,
  mistakesBeside,
  type StoredEmrWork,
  withStoredEmrs,
} from './administration.ts';

interface ListedEmr {
  readonly id: string;
  readonly source: 'configuration file' | 'operators';
  /** `unusable`: see `mistake`. */
  readonly state: 'open' | 'draft' | 'unusable';
  readonly name: string;
  readonly connector: string;
  readonly care_units: readonly string[];
  /** The names of its secrets, which are set unless `mistake` says something else. */
  readonly secrets: readonly string[];
  readonly mistake?: string;
  readonly changed_at?: Date;
}

export function emrListCommand(output: Output): Command {
  return new Command('list')
    .description('List all EHRs: those of the configuration file, and those of the database.')
    .option(...configOption)
    .option(...jsonOption)
    .addHelpText(
      ...columnHelp(
        'id',
        'where it is managed',
        'state',
        'connector',
        'number of care units',
        'names of its secrets',
        'why it cannot be used',
      ),
    )
    .action(async ({ json, ...options }: ConfigOption & JsonOption) => {
      const found = await withStoredEmrs(output, options, listEmrs);
      if (json) printJson(output, found);
      else output.out(found.length === 0 ? 'No EHRs.\n' : found.map(lineOf).join(''));
    });
}

export function emrExportCommand(output: Output, end: (exitCode: number) => void): Command {
  return new Command('export')
    .description('Print EHRs of the database as a configuration file has them, with { env: NAME } in place of secrets.')
    .argument('[emr...]', 'EHR ids (default: all that are open)')
    .option(...configOption)
    .action(async (ids: readonly string[], options: ConfigOption) => {
      const { emrs } = await withStoredEmrs(output, options, ({ db, keys }) => readStoredEmrs(db, keys));
      const unknown = ids.filter((id) => !emrs.some((emr) => emr.id === id));
      const chosen = emrs.filter(({ id, isOpen }) => (ids.length === 0 ? isOpen : ids.includes(id)));
      const names = [...new Set(chosen.flatMap(({ definition }) => secretNames(definition)))];
      if (unknown.length > 0) output.err(`The database has no EHR ${unknown.join(', ')}.\n`);
      else output.out(stringify({ emrs: chosen.map(({ definition }) => definition) }));
      if (names.length > 0) output.err(`Secrets are not exported. Set the variables ${names.join(', ')}.\n`);
      for (const { id } of chosen.filter(({ secrets }) => !secrets)) output.err(`EHR ${id}: ${unreadable}.\n`);
      end(unknown.length > 0 ? exitCodes.failed : exitCodes.fine);
    });
}

const unreadable =
  'its secrets cannot be decrypted: the secret key is unknown, or somebody else than a gateway has changed it';

/** By id: first those of the file. */
async function listEmrs(work: StoredEmrWork): Promise<ListedEmr[]> {
  const { emrs } = await readStoredEmrs(work.db, work.keys);
  return [
    ...work.file.emrs.map((emr) => ({
      source: 'configuration file' as const,
      state: 'open' as const,
      ...factsOf(emr, emr.id),
    })),
    ...emrs.map((emr) => fromDatabase(work, emr)),
  ];
}

function fromDatabase(work: StoredEmrWork, { id, definition, isOpen, secrets, changedAt }: StoredEmr): ListedEmr {
  const [mistake] = [
    ...(work.file.emrs.some((emr) => emr.id === id) ? ['the configuration file has an EHR with this id'] : []),
    ...(secrets ? [] : [unreadable]),
    ...mistakesBeside(work, definition).map(emrMistakeText),
    ...secretNames(definition)
      .filter((name) => !secrets?.[name])
      .map((name) => `no secret is stored for ${name}`),
  ];
  const state = isOpen ? (mistake === undefined ? 'open' : 'unusable') : 'draft';
  return {
    source: 'operators',
    state,
    ...factsOf(definition, id),
    ...(mistake !== undefined && { mistake }),
    changed_at: changedAt,
  };
}

/** What a definition says, which can have any form. */
function factsOf(definition: unknown, id: string) {
  const { name, connector, care_units: careUnits } = isMapping(definition) ? definition : {};
  const ids = (Array.isArray(careUnits) ? careUnits : []).map((unit) => (isMapping(unit) ? text(unit.id) : ''));
  return { id, name: text(name), connector: text(connector), care_units: ids, secrets: secretNames(definition) };
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function lineOf({ id, source, state, connector, care_units, secrets, mistake }: ListedEmr): string {
  const parts = [id, source, state, connector, `care units ${care_units.length}`];
  if (secrets.length > 0) parts.push(`secrets ${secrets.join(',')}`);
  if (mistake !== undefined) parts.push(mistake);
  return `${parts.join('  ')}\n`;
}
