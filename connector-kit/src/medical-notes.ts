import type { CareUnit } from './records.ts';
import type { Withdrawal, Write } from './writes.ts';

/** A medical note of a patient, written at one care unit. */
export interface MedicalNote {
  readonly id: string;
  readonly patientId: string;
  readonly createdAt: Date;
  /** The resource that wrote the note, by the EHR's own id. `null`: not known. */
  readonly authorId: string | null;
  readonly title: string | null;
  /** Plain text. A note in HTML or RTF is converted; the EHR keeps the original. */
  readonly text: string;
  readonly appointmentId: string | null;
}

/** Paging position: the sort keys of the last note that the caller has already seen. */
export interface MedicalNotePosition {
  readonly createdAt: Date;
  readonly id: string;
}

/** Which notes to list. Notes must match all filters. */
export interface MedicalNoteQuery {
  readonly careUnit: CareUnit;
  readonly patientId: string;
  /** Notes created in the range: `start` inclusive, `end` exclusive. */
  readonly start?: Date | undefined;
  readonly end?: Date | undefined;
  readonly authorId?: string | undefined;
  readonly after?: MedicalNotePosition | undefined;
  readonly limit: number;
}

/** A note to create. */
export interface MedicalNoteWrite extends Write {
  readonly patientId: string;
  readonly authorId: string | null;
  readonly title: string | null;
  /** Plain text. */
  readonly text: string;
  /** An appointment of the patient at the care unit. */
  readonly appointmentId: string | null;
}

/** Notes that the EHR marks as entered in error are neither listed nor found. */
export interface MedicalNoteOperations {
  /** The patient's notes at the care unit, newest first, then by id descending: at most `limit`, after `after`. */
  listMedicalNotes(query: MedicalNoteQuery): Promise<readonly MedicalNote[]>;
  /** The note of this patient at this care unit, or `null`. */
  findMedicalNote(careUnit: CareUnit, patientId: string, noteId: string): Promise<MedicalNote | null>;
  /** Creates a note. A second call with the same operation id changes nothing and returns the note of the first call. */
  createMedicalNote(write: MedicalNoteWrite): Promise<MedicalNote>;
  /** The note of the write with this operation id. `null`: the write was never done, or its note was withdrawn. */
  findMedicalNoteWrite(careUnit: CareUnit, operationId: string): Promise<MedicalNote | null>;
  /** Marks the note of `operationId` as entered in error, unless somebody has changed it since. */
  withdrawMedicalNote(careUnit: CareUnit, operationId: string): Promise<Withdrawal>;
}
