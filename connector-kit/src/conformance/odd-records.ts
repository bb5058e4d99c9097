import type { LeftOutRecord } from '../connector.ts';
import type { Appointment, TimeSlot } from '../records.ts';

/** Puts a record right again. */
export type Mend = () => Promise<void>;

/**
 * Makes records of the EHR what they should not be, as old data, other programs and errors do. Each is absent if the EHR cannot
 * have such a record.
 */
export interface OddRecords {
  /** From now on the appointment cannot be read, such as one with a start that is no time. */
  breakAppointment?(appointment: Appointment): Promise<Mend>;
  breakPatient?(patientId: string): Promise<Mend>;
  breakTimeSlot?(slot: TimeSlot): Promise<Mend>;
  /** From now on the appointment is of the patient with the same id at another server. */
  nameForeignPatient?(appointment: Appointment): Promise<Mend>;
  /** From now on the appointment is with the resource with the same id at another server, and names no other by its slot. */
  nameForeignResource?(appointment: Appointment): Promise<Mend>;
  /** From now on the patient is replaced by the one with the id of another patient, `by`, at another server. */
  replaceByForeignPatient?(patientId: string, by: string): Promise<Mend>;
  /** What the connector has passed to `leftOut` of its context, in order. */
  readonly leftOut: readonly LeftOutRecord[];
}
