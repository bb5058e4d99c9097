import { Command, Option } from 'commander';
import type { AuditKey } from '../audit/audit-keys.ts';
import { readAuditKeys } from '../audit/audit-keys.ts';
import { readExportState } from '../audit/export/export-state.ts';
import { type ExportFormat, linesOf } from '../audit/export/lines.ts';
import type { ExportedPatient } from '../audit/export/named-patient.ts';
import { readEntries } from '../audit/export/read-entries.ts';
import { incompleteText, isIncomplete } from '../audit/lost-keys.ts';
import { readAuditSearch, type TypedSearch } from '../audit/read-search.ts';
import type { AuditSearch } from '../audit/search.ts';
import { exportFormats } from '../config/schema/schema.ts';
import { record } from '../console/audit/act.ts';
import type { Db } from '../db/kysely.ts';
import { currentKeyRing } from './current-key-ring.ts';
import { UsageError } from './exit-codes.ts';
import { withDatabase } from './gateway-database.ts';
import type { Output } from './output.ts';
import { patientOption, readPatientNumber } from './read-patient.ts';

/** Entries that are read at once. */
const atOnce = 1_000;

interface Options extends Omit<TypedSearch, 'requestId'> {
  readonly format: ExportFormat;
  readonly after: number;
}

export function auditExportCommand(output: Output): Command {
  return new Command('export')
    .description(
      'Print entries on standard output, one object on each line, in the order of their export positions. Patients are ' +
        'keyed hashes; only the one of --patient has the id of the EHR.',
    )
    .addOption(
      new Option('--format <format>', '`ndjson`, or `balp`: FHIR R4 AuditEvents by IHE BALP')
        .choices(exportFormats)
        .default('ndjson'),
    )
    .addOption(
      new Option('--after <position>', 'continue behind this export position').default(0).argParser(readPosition),
    )
    .option('--emr <id>', 'id of the EHR')
    .option(...patientOption)
    .option('--client <id>', 'id of the client')
    .option('--from <time>', 'such as 2030-03-15 or 2030-03-15T09:00, in UTC')
    .option('--to <time>', 'exclusive')
    .action(async ({ format, after, ...typed }: Options) => {
      const search = readAuditSearch({ ...typed, patient: await readPatientNumber(output, typed.patient) });
      if (typeof search === 'string') throw new UsageError(search);
      await withDatabase(output, async (db) => {
        const ring = search.patients && (await currentKeyRing(db));
        const keys = ring ? [...(await readAuditKeys(db, ring)).values()] : [];
        if (ring && (await isIncomplete(db, ring, search))) output.err(`${incompleteText}\n`);
        // No target: a text that names no EHR could be an identifier.
        await record(db, undefined, { action: 'audit_export', outcome: 'done' });
        const { last } = await readExportState(db);
        if (after > last) output.err(`The last export position is ${last}: nothing can follow ${after}.\n`);
        const { count, reached } = await printEntries(db, { output, format, after, search, keys });
        const how = count === 0 ? 'No entries.' : `${count} entries, up to export position ${reached}.`;
        output.err(
          `${how} Those that are not linked yet follow: continue with --after ${Math.max(after, last, reached)}.\n`,
        );
      });
    });
}

interface Print {
  readonly output: Output;
  readonly format: ExportFormat;
  readonly after: number;
  readonly search: AuditSearch;
  /** Needed for a search by patient. */
  readonly keys: readonly AuditKey[];
}

async function printEntries(db: Db, { output, format, after, search, keys }: Print) {
  const { emr, patients, clientId, from, to } = search;
  const hashesOf = (identifier: string) => keys.map((key) => key.hashPatient(emr ?? '', identifier));
  const filter = { emr, clientId, from, to, patientHashes: patients?.flatMap(hashesOf) };
  const named = namedPatient(patients, hashesOf);
  let [count, reached] = [0, after];
  for (;;) {
    const entries = await readEntries(db, reached, atOnce, filter);
    for (const entry of entries) output.out(linesOf(format, entry, named));
    count += entries.length;
    reached = entries.at(-1)?.export_position ?? reached;
    if (entries.length < atOnce) return { count, reached };
  }
}

/** The EHR's own id, if the operator has named the patient by it. No other identifier leaves the gateway. */
function namedPatient(
  patients: readonly string[] | undefined,
  hashesOf: (identifier: string) => readonly Buffer[],
): ExportedPatient | undefined {
  const own = patients?.find((it) => it.startsWith('emr_id:'));
  return own === undefined ? undefined : { hashes: hashesOf(own), emrId: own.slice('emr_id:'.length) };
}

function readPosition(typed: string): number {
  const position = Number(typed);
  if (Number.isSafeInteger(position) && position >= 0) return position;
  throw new UsageError('--after must be an export position: a whole number.');
}
