/** Stored with every write. Must not change. */
export const medicalNoteKindName = 'medical_note';

/** What is stored before the EHR is called. Ids are the EHR's own, except `callersAppointmentId`. */
export interface MedicalNotePlan {
  readonly requestedAt: Date;
  readonly patientId: string;
  readonly authorId: string | null;
  readonly title: string | null;
  readonly text: string;
  readonly appointmentId: string | null;
  /** The id that callers know the appointment by. */
  readonly callersAppointmentId: string | null;
}
