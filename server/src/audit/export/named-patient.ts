import type { StoredEntry } from '../linked-accesses.ts';

/** A patient whom the operator has named: exports show the EHR's own id in place of the hashes. */
export interface ExportedPatient {
  /** Hashes of the EHR's own id, by each key of the trail. */
  readonly hashes: readonly Buffer[];
  /** The EHR's own id. */
  readonly emrId: string;
}

export function concerns(
  { patient_hashes }: Pick<StoredEntry, 'patient_hashes'>,
  { hashes }: ExportedPatient,
): boolean {
  return patient_hashes.some((it) => hashes.some((hash) => it.equals(hash)));
}
