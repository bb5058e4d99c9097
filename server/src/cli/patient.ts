import { randomUUID } from 'node:crypto';
import { Command } from 'commander';
import { eraseKept, eventsKeepingOf } from '../appointments/known-appointments.ts';
import type { AuditKey } from '../audit/audit-keys.ts';
import { readAuditKeys } from '../audit/audit-keys.ts';
import { insertDrafts, newDraft } from '../audit/drafts.ts';
import { entriesOfPatient } from '../audit/of-patient.ts';
import { readAuditSearch } from '../audit/read-search.ts';
import { eraseOfCodes, findOfCodes, type OfCodes } from '../confirmations/erase.ts';
import { patientHashes } from '../confirmations/items.ts';
import { act, NotPossible } from '../console/audit/act.ts';
import type { Db, Tx } from '../db/kysely.ts';
import type { KeyRing } from '../secrets/key-ring.ts';
import { type StoredResponses, storedResponses, unfinishedOfPatient } from '../unfinished-writes/of-patient.ts';
import { completeKeyRing } from './current-key-ring.ts';
import { exitCodes, UsageError } from './exit-codes.ts';
import { withDatabase } from './gateway-database.ts';
import type { Output } from './output.ts';
import { type JsonOption, jsonOption, printJson, snakeCase } from './print-json.ts';
import { patientOption, readPatientNumber } from './read-patient.ts';

/** What the gateway holds about a patient. */
interface Held {
  readonly ofCodes: OfCodes;
  /** Events that keep the patient's id and a comment, encrypted. */
  readonly inEvents: number;
  /** Operations that may be about the patient and are not finished. */
  readonly unfinished: readonly string[];
  readonly auditEntries: number;
  readonly responses: StoredResponses;
}

interface Options extends JsonOption {
  readonly emr: string;
  readonly patient: string;
  readonly yes?: true;
}

export function patientCommand(output: Output, end: (exitCode: number) => void): Command {
  const patient = new Command('patient').description('Manage what the gateway holds about a patient.');
  patient
    .command('erase')
    .description(
      'Show what the gateway holds about a patient and, with --yes, erase it: codes, messages and drafts. Says what it ' +
        'must keep, and why. Changes nothing in the EHR.',
    )
    .requiredOption('--emr <id>', 'id of the EHR')
    .requiredOption(
      patientOption[0],
      'the EHR\'s own id, as emr_id:p-1. "-" asks for it or reads it from standard input',
    )
    .option('--yes', 'erase it; without it, nothing is changed')
    .option(...jsonOption)
    .action(async ({ emr, patient: typed, yes, json }: Options) => {
      const patientId = ownId(emr, await readPatientNumber(output, typed));
      const { held, isErased } = await withDatabase(output, async (db) => {
        const keys = await completeKeyRing(db);
        const about = { emr, patientId, keys, auditKeys: [...(await readAuditKeys(db, keys)).values()] };
        return yes ? erase(db, about) : { held: await look(db, about), isErased: false };
      });
      if (json) printJson(output, { erased: isErased, ...inJson(held) });
      else output.out(report(held, isErased));
      if (!yes) output.err('Nothing was changed. Repeat it with --yes to erase.\n');
      else if (!isErased) output.err('Nothing was changed, because something is not finished.\n');
      end(yes && !isErased ? exitCodes.failed : exitCodes.fine);
    });
  return patient;
}

interface About {
  readonly emr: string;
  readonly patientId: string;
  readonly keys: KeyRing;
  readonly auditKeys: readonly AuditKey[];
}

function look(db: Db, about: About): Promise<Held> {
  return db.transaction().execute(async (tx) => (await find(tx, about)).held);
}

/** In one transaction, with its entry in the audit trail and among what operators did. Can be repeated. */
async function erase(db: Db, about: About): Promise<{ readonly held: Held; readonly isErased: boolean }> {
  const { emr, patientId, auditKeys } = about;
  let unfinished: Held | undefined;
  const result = await act(db, undefined, { action: 'patient_erase', target: emr }, async (tx) => {
    const { ids, eventIds, held } = await find(tx, about);
    if (held.ofCodes.open > 0 || held.unfinished.length > 0) {
      unfinished = held;
      throw new NotPossible('not_finished');
    }
    await eraseOfCodes(tx, ids);
    await eraseKept(tx, eventIds);
    const [key] = auditKeys;
    if (key) await insertDrafts(tx, [newDraft(key, randomUUID(), erasureOf(emr, patientId))]);
    return held;
  });
  if (!(result instanceof NotPossible)) return { held: result, isErased: true };
  if (!unfinished) throw result;
  return { held: unfinished, isErased: false };
}

/** The EHR's record is not touched, so no care unit is. */
function erasureOf(emr: string, patientId: string) {
  return {
    actor: 'background',
    clientId: 'background',
    operation: 'erase_patient',
    emr,
    careUnitId: '-',
    patients: [`emr_id:${patientId}`],
    records: [],
    outcome: 'success',
    requestId: randomUUID(),
    writeId: undefined,
  } as const;
}

async function find(tx: Tx, { emr, patientId, keys, auditKeys }: About) {
  const { ids, found } = await findOfCodes(tx, emr, patientHashes(keys, emr, patientId));
  const eventIds = await eventsKeepingOf(tx, keys, emr, patientId);
  const hashes = auditKeys.map((key) => key.hashPatient(emr, `emr_id:${patientId}`));
  const { entries, writeIds } = await entriesOfPatient(tx, hashes);
  const held: Held = {
    ofCodes: found,
    inEvents: eventIds.length,
    unfinished: await unfinishedOfPatient(tx, keys, emr, patientId),
    auditEntries: entries,
    responses: await storedResponses(tx, writeIds),
  };
  return { ids, eventIds, held };
}

function ownId(emr: string, typed: string | undefined): string {
  const search = readAuditSearch({ emr, patient: typed });
  if (typeof search === 'string') throw new UsageError(search);
  const [identifier = '', ...others] = search.patients ?? [];
  if (!identifier.startsWith('emr_id:') || others.length > 0)
    throw new UsageError("--patient must be one patient, by the EHR's own id, such as emr_id:p-1.");
  return identifier.slice('emr_id:'.length);
}

function inJson({ ofCodes, inEvents, unfinished, auditEntries, responses }: Held) {
  const { open, ids, ...removed } = ofCodes;
  return {
    removed: { ...removed, in_events: inEvents },
    kept: snakeCase({ ids, auditEntries, storedResponses: responses.count, storedResponsesUntil: responses.until }),
    not_finished: { confirmations: open, operations: unfinished },
  };
}

function report({ ofCodes, inEvents, unfinished, auditEntries, responses }: Held, isErased: boolean): string {
  const { confirmations, messages, drafts, ids, open } = ofCodes;
  const until = responses.until ? `, until ${responses.until.toISOString()}` : '';
  return [
    isErased ? 'Erased:' : 'Would be erased:',
    `  ${confirmations} confirmations with their codes, ${messages} messages, ${drafts} drafts that were never booked`,
    `  the patient's id and comments in ${inEvents} events`,
    'Kept:',
    `  ${ids} ids that stand for appointments of the EHR, without anything about the patient: callers use them`,
    `  ${auditEntries} entries of the audit trail, with keyed hashes: the law wants the log of accesses. They end with retention.audit_days`,
    `  ${responses.count} stored responses, encrypted: without them a repeated request would write a second time. They end within a day${until}`,
    '  events, with ids and times of appointments: receivers follow them without gaps. They end with retention.event_days',
    '  what the EHR has, exports of the audit trail, and backups',
    ...(open > 0
      ? [`Not finished: ${open} confirmations wait for a code or the end of a hold: wait, or cancel them`]
      : []),
    ...unfinished.map((id) => `Not finished: operation ${id} may be about the patient: see \`operations show ${id}\``),
    '',
  ].join('\n');
}
