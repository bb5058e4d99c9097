import { AsyncLocalStorage } from 'node:async_hooks';
import type { Identifier, User } from '@crossward/connector-kit';

/**
 * What the running work is done for: a request, an action on the page for patients, or a background job. It is made at the door,
 * and what the work meets on its way is noted in it.
 */
export interface WorkContext {
  /** The client for which EHRs are called: it owns the calls in the fair queue. Absent: nobody, as in a background job. */
  readonly clientId?: string;
  /** The person for whom the client makes the calls, if it names one. */
  readonly user?: User | undefined;
  /** The patients and records that it concerns, as far as they are known. For the audit trail. */
  readonly reached?: Reached | undefined;
  /** Its entry in the audit trail, for the statement that ends its write. Absent: that leaves none. */
  readonly access?: CurrentAccess | undefined;
  /** How long it may still wait for the database, all its statements together. Absent: each as long as its connection allows. */
  readonly databaseTime?: DatabaseTime;
  /** Calls to an EHR run it when their turn has come, and are not made if it throws. */
  readonly lastCheck?: () => Promise<void>;
}

export interface Reached {
  /** Identifiers in their normal form, with their type: `emr_id:p-1`. */
  readonly patients: Set<string>;
  /** The EHR's ids of appointments, notes and documents. */
  readonly records: Set<string>;
}

export interface DatabaseTime {
  milliseconds: number;
}

/** An access to the records of patients. */
export interface AuditedAccess {
  readonly actor: 'client' | 'patient_page' | 'background';
  /** The client that the access is for. `background`: none. */
  readonly clientId: string;
  readonly operation: string;
  readonly emr: string;
  readonly careUnitId: string;
  /** Identifiers in their normal form, with their type: `emr_id:p-1`. Only hashes of them are stored. */
  readonly patients: Iterable<string>;
  /** The EHR's ids of appointments, notes and documents. */
  readonly records: Iterable<string>;
  /** `success`, `dry_run`, `replayed`, the reason of a problem, or one of `BackgroundOutcome`. */
  readonly outcome: string;
  /** The id of the request. For a background job: the id of the write. */
  readonly requestId: string;
  /** The id of the write that the access is part of. `undefined`: a read, or a write that was rejected before. */
  readonly writeId: string | undefined;
}

export interface CurrentAccess {
  /**
   * The access as it ends now.
   *
   * @param body of the response. Absent: there is none
   */
  describe(outcome: string, body?: object): AuditedAccess;
  /** The write that the work has begun. */
  writeId?: string;
  /** The outcome of the last entry whose transaction has committed. */
  recorded?: string;
}

const storage = new AsyncLocalStorage<WorkContext>();

/** Runs `work` in the running context with these changes. */
export function within<Result>(changes: WorkContext, work: () => Result): Result {
  return storage.run({ ...storage.getStore(), ...changes }, work);
}

/** Empty for work that nobody waits for and that leaves nothing. */
export function currentContext(): WorkContext {
  return storage.getStore() ?? {};
}

/** Notes which write the running work has begun, also for an entry that says that its outcome is unknown. */
export function beganWrite(writeId: string): void {
  const { access } = currentContext();
  if (access) access.writeId = writeId;
}

export function newReached(): Reached {
  return { patients: new Set(), records: new Set() };
}

/** Notes identifiers of a patient. */
export function reachedPatient(...identifiers: readonly Identifier<string>[]): void {
  const { reached } = currentContext();
  for (const { type, value } of identifiers) reached?.patients.add(`${type}:${value}`);
}

/** Notes a record and its patient. */
export function reachedRecord({ id, patientId }: { readonly id: string; readonly patientId: string }): void {
  currentContext().reached?.records.add(id);
  reachedPatient({ type: 'emr_id', value: patientId });
}

/** Notes the records in the result of a connector: a record or a list of records. Ignores other results. */
export function reachedRecords(result: unknown): void {
  if (!currentContext().reached) return;
  for (const it of [result].flat()) if (isRecord(it)) reachedRecord(it);
}

function isRecord(it: unknown): it is Parameters<typeof reachedRecord>[0] {
  if (typeof it !== 'object' || it === null || !('id' in it) || !('patientId' in it)) return false;
  return typeof it.id === 'string' && typeof it.patientId === 'string';
}
