import { AsyncLocalStorage } from 'node:async_hooks';
import type { Identifier } from '@crossward/connector-kit';

/** The patients and records that a request concerns, as far as they are known. For the audit trail. */
export interface Reached {
  /** Identifiers in their normal form, with their type: `emr_id:p-1`. */
  readonly patients: Set<string>;
  /** The EHR's ids of appointments, notes and documents. */
  readonly records: Set<string>;
}

const scope = new AsyncLocalStorage<Reached>();

export function newReached(): Reached {
  return { patients: new Set(), records: new Set() };
}

/** Runs `work`, and adds the patients and records that it looks up to `reached`. */
export function collecting<Result>(reached: Reached, work: () => Result): Result {
  return scope.run(reached, work);
}

/** Adds identifiers of a patient, outside `collecting` nothing. */
export function reachedPatient(...identifiers: readonly Identifier<string>[]): void {
  const reached = scope.getStore();
  for (const { type, value } of identifiers) reached?.patients.add(`${type}:${value}`);
}

/** Adds the records in the result of a connector: a record or a list of records. Ignores other results. */
export function reachedRecords(result: unknown): void {
  if (!scope.getStore()) return;
  for (const it of [result].flat()) if (isRecord(it)) reachedRecord(it);
}

function isRecord(it: unknown): it is Parameters<typeof reachedRecord>[0] {
  if (typeof it !== 'object' || it === null || !('id' in it) || !('patientId' in it)) return false;
  return typeof it.id === 'string' && typeof it.patientId === 'string';
}

/** Adds a record and its patient, outside `collecting` nothing. */
export function reachedRecord({ id, patientId }: { readonly id: string; readonly patientId: string }): void {
  scope.getStore()?.records.add(id);
  reachedPatient({ type: 'emr_id', value: patientId });
}
