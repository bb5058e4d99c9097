import type { EmrInFile } from '../../config/configuration.ts';
import { isMapping } from '../../config/mistakes/mistake.ts';
import { resolveConnection } from '../../config/schema/connection.ts';
import type { Db, Tx } from '../../db/kysely.ts';
import { deleteEmr, insertEmr, lockEmr, replaceEmr } from '../../ehr/stored/change-stored.ts';
import type { EmrFacts, SecretsByName, StoredEmr } from '../../ehr/stored/stored-emrs.ts';
import type { KeyRing } from '../../secrets/key-ring.ts';
import {
  countOpenWork,
  lostPlaces,
  openWorkText,
  pausedSeconds,
  sameEmrText,
} from '../../unfinished-writes/open-work.ts';
import { act, NotPossible } from '../audit/act.ts';
import type { OperatorAction } from '../audit/activity.ts';
import type { Session } from '../sign-in/sessions.ts';

/** Who changes stored EHRs. */
export interface EmrAdministration {
  readonly db: Db;
  readonly keys: KeyRing;
  /** Absent: the command line. */
  readonly by?: Session;
}

/** What operators are told if an EHR was not changed. That of `open_work` has the counts. */
const rejectionTexts: Readonly<Record<string, string>> = {
  taken: 'The database has an EHR with this id.',
  unknown: 'The database has no EHR with this id.',
  outdated: 'The EHR has been changed meanwhile. Look at it, and try again.',
};

export function rejectionText({ reason, detail }: NotPossible): string {
  return detail || (rejectionTexts[reason] ?? reason);
}

/** Seconds after which the last gateway knows of a pause. */
const pauseKnownSeconds = 10;
const calls = resolveConnection();

/**
 * Seconds of a pause after which no gateway has a plan that is not stored yet, or calls the server: the last one may wait for a
 * call that it has begun before it knew of the pause.
 */
function pauseBefore({ definition }: StoredEmr): number {
  const connection = isMapping(definition) && isMapping(definition.connection) ? definition.connection : {};
  const milliseconds =
    Number(connection.timeout_ms ?? calls.timeout_ms) + Number(connection.queue_timeout_ms ?? calls.queue_timeout_ms);
  // Somebody may have changed the row.
  return pauseKnownSeconds + Math.ceil((Number.isFinite(milliseconds) ? milliseconds : calls.timeout_ms) / 1000);
}

/** Which EHR to change. `version`: only if it has not changed since. */
export interface EmrVersion {
  readonly id: string;
  readonly version: string;
}

/** Stores an EHR whose mistakes have been looked for. Returns why not: an open one takes over what is open under its id. */
export function addEmr(
  { db, keys, by }: EmrAdministration,
  facts: EmrFacts,
  secrets: SecretsByName,
  isForced = false,
): Promise<NotPossible | undefined> {
  return attempt(db, by, 'emr_add', facts.id, async (tx) => {
    if (facts.isOpen && !isForced) await assertNothingTakenOver(tx, facts.id);
    if (!(await insertEmr(tx, keys, facts, secrets))) throw new NotPossible('taken');
  });
}

/** Replaces a stored EHR whose mistakes have been looked for. Returns why not. */
export function changeEmr(
  { db, keys, by }: EmrAdministration,
  { version, ...facts }: EmrFacts & EmrVersion,
  secrets: SecretsByName,
  isForced: boolean,
): Promise<NotPossible | undefined> {
  return attempt(db, by, 'emr_change', facts.id, async (tx) => {
    const former = await lock(tx, keys, facts);
    if (former.version !== version) throw new NotPossible('outdated');
    if (!isForced) await assertNothingOpen(tx, former, facts);
    await replaceEmr(tx, keys, facts, secrets);
  });
}

/** Lets gateways connect to a draft whose mistakes have been looked for. Returns why not. */
export function openEmr(
  { db, keys, by }: EmrAdministration,
  { id, version }: EmrVersion,
  isForced = false,
): Promise<NotPossible | undefined> {
  return attempt(db, by, 'emr_open', id, async (tx) => {
    const { definition, secrets, version: now, isOpen } = await lock(tx, keys, { id });
    if (now !== version || !secrets) throw new NotPossible('outdated');
    if (!isOpen && !isForced) await assertNothingTakenOver(tx, id);
    await replaceEmr(tx, keys, { id, definition, isOpen: true }, secrets);
  });
}

/** Removes a stored EHR and its secrets. Returns why not. Only what is open can be forced. */
export function removeEmr(
  { db, keys, by }: EmrAdministration,
  { id, version }: Pick<EmrVersion, 'id'> & Partial<EmrVersion>,
  isForced: boolean,
): Promise<NotPossible | undefined> {
  return attempt(db, by, 'emr_remove', id, async (tx) => {
    const former = await lock(tx, keys, { id });
    if (version !== undefined && former.version !== version) throw new NotPossible('outdated');
    if (!isForced || !former.isOpen) await assertNothingOpen(tx, former, undefined);
    await deleteEmr(tx, id);
  });
}

async function lock(tx: Tx, keys: KeyRing, { id }: Pick<EmrFacts, 'id'>): Promise<StoredEmr> {
  const found = await lockEmr(tx, keys, id);
  if (!found) throw new NotPossible('unknown');
  return found;
}

/** @throws {NotPossible} with the count, if something is open that the EHR would lose */
async function assertNothingOpen(tx: Tx, former: StoredEmr, next: EmrFacts | undefined): Promise<void> {
  // A draft has no work, unless it had been open before: then its id says where the work is.
  const whole = { emr: former.id, careUnit: null };
  const isKnown = next?.isOpen && former.isOpen && former.secrets !== undefined;
  const lost = isKnown ? lostPlaces(former.definition as EmrInFile, next.definition as EmrInFile) : [whole];
  const open = lost.length > 0 ? await countOpenWork(tx, lost) : [];
  if (open.length > 0) throw new NotPossible('open_work', open.map(openWorkText).join('\n'));
  if (lost.length > 0 && former.isOpen) await assertPaused(tx, former);
}

/**
 * What another gateway writes while open work is counted is not counted, and its recovery would ask the new server.
 *
 * @throws {NotPossible} if the EHR has not been paused for long enough
 */
async function assertPaused(tx: Tx, former: StoredEmr): Promise<void> {
  const needed = pauseBefore(former);
  const seconds = await pausedSeconds(tx, former.id);
  const left = seconds === undefined ? undefined : Math.ceil(needed - seconds);
  if (left !== undefined && left <= 0) return;
  const text = `Pause EHR ${former.id} first, and wait for ${needed} seconds: a booking that a gateway is making could be lost or doubled.`;
  throw new NotPossible('not_paused', left === undefined ? text : `${text} ${left} of them are left.`);
}

/** @throws {NotPossible} with the count, if something is open under the id of an EHR that is to be opened */
async function assertNothingTakenOver(tx: Tx, emr: string): Promise<void> {
  const [open] = await countOpenWork(tx, [{ emr, careUnit: null }]);
  if (open) throw new NotPossible('open_work', sameEmrText(open));
}

async function attempt(
  db: Db,
  by: Session | undefined,
  action: OperatorAction,
  target: string,
  work: (tx: Tx) => Promise<void>,
): Promise<NotPossible | undefined> {
  return (await act(db, by, { action, target }, work)) ?? undefined;
}
