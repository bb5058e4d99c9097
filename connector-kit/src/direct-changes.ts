import type { Document } from './documents.ts';
import type { MedicalNote } from './medical-notes.ts';
import type { Appointment, Attendance, TimeSlot } from './records.ts';

/** Changes made directly in the EHR, as by its own staff. Each is absent if the EHR does not allow it. */
export interface DirectChanges {
  cancel?(appointment: Appointment): Promise<void>;
  /** Deletes the appointment, if the EHR tells that among its changes. */
  delete?(appointment: Appointment): Promise<void>;
  /** Moves the appointment to a free time of the same resource. */
  move?(appointment: Appointment, to: TimeSlot): Promise<void>;
  comment?(appointment: Appointment, text: string): Promise<void>;
  /** Notes the attendance of the patient. */
  attend?(appointment: Appointment, attendance: Attendance): Promise<void>;
  /** Books the time in the EHR. The returned function frees it. */
  take?(slot: TimeSlot): Promise<() => Promise<void>>;
  /**
   * Books this patient at the time of an appointment, which stays as it is. The returned function cancels the new one.
   * `null`: the EHR refuses a second appointment at this time.
   */
  overbook?(appointment: Appointment, patientId: string): Promise<(() => Promise<void>) | null>;
  changeNote?(note: MedicalNote, text: string): Promise<void>;
  /** Marks the note as entered in error. */
  retractNote?(note: MedicalNote): Promise<void>;
  changeDocument?(document: Document, title: string): Promise<void>;
  /** Marks the document as entered in error. */
  retractDocument?(document: Document): Promise<void>;
}
