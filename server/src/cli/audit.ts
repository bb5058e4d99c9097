import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { Command, Option } from 'commander';
import { readAnchors } from '../audit/anchor-lines.ts';
import type { Anchor } from '../audit/anchors.ts';
import { readAuditKeys } from '../audit/audit-keys.ts';
import { incompleteText, isIncomplete } from '../audit/lost-keys.ts';
import { readAuditSearch, searchedDays, type TypedSearch } from '../audit/read-search.ts';
import { type FoundAccess, searchEntries } from '../audit/search.ts';
import { type AuditVerdict, type Unlinked, verifyChains, verifyUnlinked } from '../audit/verify.ts';
import { record } from '../console/audit/act.ts';
import { errorCode } from '../db/errors.ts';
import { auditExportCommand } from './audit-export.ts';
import { columnHelp } from './column-help.ts';
import { currentKeyRing } from './current-key-ring.ts';
import { exitCodes, UsageError } from './exit-codes.ts';
import { withDatabase } from './gateway-database.ts';
import type { Output } from './output.ts';
import { type JsonOption, jsonOption, printJson } from './print-json.ts';
import { patientOption, readPatientNumber } from './read-patient.ts';

/** Default of `--limit`. */
const mostShown = 100;

export function auditCommand(output: Output, end: (exitCode: number) => void): Command {
  const audit = new Command('audit').description('Search, export and verify the audit trail of accesses to patients.');
  audit
    .command('search')
    .description('List accesses, the newest first. Shows no identifiers of patients.')
    .option('--emr <id>', 'id of the EHR')
    .option(...patientOption)
    .option('--client <id>', 'id of the client')
    .option('--request-id <id>', 'id of the request, or of the operation')
    .option('--from <time>', 'such as 2030-03-15 or 2030-03-15T09:00, in UTC')
    .option('--to <time>', 'exclusive')
    .addOption(new Option('--limit <number>', 'how many entries').default(mostShown).argParser(readLimit))
    .option(...jsonOption)
    .addHelpText(
      ...columnHelp(
        'time',
        'client',
        'operation of the interface',
        'EHR/care unit',
        'outcome',
        'request',
        'operation of a write, if it is another id',
        'records, if any',
      ),
    )
    .action(async ({ limit, json, ...typed }: SearchOptions) => {
      const search = readAuditSearch({ ...typed, patient: await readPatientNumber(output, typed.patient) });
      if (typeof search === 'string') throw new UsageError(search);
      const found = await withDatabase(output, async (db) => {
        const ring = await currentKeyRing(db);
        const keys = await readAuditKeys(db, ring);
        // No target: a text that names no EHR could be an identifier.
        await record(db, undefined, { action: 'audit_search', outcome: 'done' });
        if (await isIncomplete(db, ring, search)) output.err(`${incompleteText}\n`);
        return searchEntries(db, keys.values(), search, { limit: limit + 1 });
      });
      const shown = found.slice(0, limit);
      if (json) printJson(output, shown.map(asJson));
      else output.out(shown.length === 0 ? 'No entries.\n' : shown.map(entryLine).join(''));
      const days = searchedDays(typed, search);
      if (days !== undefined) output.err(`${days}\n`);
      if (found.length > limit) output.err(`Only the newest ${limit} are shown.\n`);
    });
  audit.addCommand(auditExportCommand(output));
  audit
    .command('verify')
    .description('Check that no entry was changed or removed, and say what cannot be excluded.')
    .option(
      '--anchors <file>',
      'log with anchors to compare with. Without it, the removal of the newest entries cannot be seen',
    )
    .option(...jsonOption)
    .action(async ({ anchors: file, json }: JsonOption & { readonly anchors?: string }) => {
      const anchors = file === undefined ? [] : await anchorsIn(file);
      let isIntact = true;
      const chains: AuditVerdict[] = [];
      const unlinked = await withDatabase(output, async (db) => {
        const keys = await readAuditKeys(db, await currentKeyRing(db));
        for await (const verdict of verifyChains(db, keys, anchors)) {
          isIntact &&= verdict.fault === null;
          if (json) chains.push(verdict);
          else output.out(verdictLine(verdict));
        }
        return verifyUnlinked(db, keys);
      });
      isIntact &&= unlinked.falsified === 0;
      if (json) printJson(output, { chains, unlinked });
      else {
        output.out(unlinkedLines(unlinked));
        output.out(
          isIntact ? 'What the database has of the audit trail is intact.\n' : 'The audit trail is not intact.\n',
        );
        output.out(file === undefined ? notExcluded : notExcludedBehindAnchors);
      }
      end(isIntact ? exitCodes.fine : exitCodes.failed);
    });
  return audit;
}

interface SearchOptions extends TypedSearch, JsonOption {
  readonly limit: number;
}

function readLimit(typed: string): number {
  const limit = Number(typed);
  if (Number.isInteger(limit) && limit >= 1 && limit <= 10_000) return limit;
  throw new UsageError('--limit must be a whole number from 1 to 10000.');
}

async function anchorsIn(file: string): Promise<Anchor[]> {
  try {
    return await readAnchors(createInterface({ input: createReadStream(file) }));
  } catch (error) {
    if (error instanceof SyntaxError)
      throw new UsageError(`${file} has an anchor that cannot be read: ${error.message}.`);
    throw new UsageError(`${file} cannot be read: ${errorCode(error)}.`);
  }
}

function entryLine(entry: FoundAccess): string {
  const { at, actor_kind, client_id, operation, emr, care_unit_id, outcome, request_id, operation_id, record_ids } =
    entry;
  const who = actor_kind === 'client' ? client_id : `${client_id} (${actor_kind})`;
  const records = record_ids.length > 0 ? `  records ${record_ids.join(',')}` : '';
  const part = operation_id === null || operation_id === request_id ? '' : `  operation ${operation_id}`;
  return `${at.toISOString()}  ${who}  ${operation}  ${emr}/${care_unit_id}  ${outcome}  request ${request_id}${part}${records}\n`;
}

function asJson({ patient_hashes, hash, key, ...entry }: FoundAccess) {
  return { ...entry, patients: patient_hashes.length, hash: hash?.toString('hex') ?? null };
}

const faults: Readonly<Record<NonNullable<AuditVerdict['fault']>, string>> = {
  changed: 'changed',
  missing: 'entry missing',
  cut_off: 'cut off',
  removed: 'chain removed',
  anchor_changed: 'anchor changed',
  checkpoint_changed: 'checkpoint changed',
  not_verifiable: 'not verifiable: its key is lost',
};

/** Somebody who can write to the database can put back its own earlier state, a chain's earlier anchor included. */
const notExcluded =
  'Not excluded without --anchors: the newest entries of a chain, or whole chains, may have been removed.\n';
const notExcludedBehindAnchors =
  'Not excluded: what was written after the last anchor of a chain in the file, or in a chain without one there, may have been removed.\n';

function unlinkedLines({ accesses, overdue, falsified, activity }: Unlinked): string {
  const late = overdue > 0 ? `, ${overdue} of them for more than a minute` : '';
  const isFalsified = falsified > 0 ? `; ${falsified} of them falsified` : '';
  return `Not linked into a chain yet: ${accesses} accesses${late}${isFalsified}; ${activity} actions of operators.\n`;
}

function verdictLine(verdict: AuditVerdict): string {
  const { chainId, subject, fault, position, entries, deletedUpTo, anchoredUpTo, firstAt, lastAt } = verdict;
  const found = fault === null ? 'intact' : `${faults[fault]}${position === null ? '' : ` at position ${position}`}`;
  const deleted = deletedUpTo > 0 ? `  deleted up to ${deletedUpTo}` : '';
  const times = firstAt && lastAt ? `  ${firstAt.toISOString()} to ${lastAt.toISOString()}` : '';
  const anchored = anchoredUpTo > 0 ? `  anchored up to ${anchoredUpTo}` : '';
  const what = subject === 'activity' ? 'actions of operators' : 'entries';
  return `${chainId}  ${found}  ${entries} ${what}${deleted}${anchored}${times}\n`;
}
