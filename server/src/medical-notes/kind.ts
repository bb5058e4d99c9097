import type { MedicalNote } from '@crossward/connector-kit';
import { recordKind } from '../operations/record-kind.ts';
import { medicalNoteBody, medicalNotePath } from './representation.ts';

/** What is stored before the EHR is called. Ids are the EHR's own, except `callersAppointmentId`. */
export interface MedicalNotePlan {
  readonly patientId: string;
  readonly authorId: string | null;
  readonly title: string | null;
  readonly text: string;
  readonly appointmentId: string | null;
  /** The id that callers know the appointment by. */
  readonly callersAppointmentId: string | null;
}

/** Creates a medical note. */
export const medicalNoteKind = recordKind<MedicalNotePlan, MedicalNote>({
  name: 'medical_note',
  findOperation: 'findMedicalNoteWrite',
  create: (work, write, { callersAppointmentId: _, ...note }) => work.call('createMedicalNote', { ...write, ...note }),
  find: (work, operationId) => work.call('findMedicalNoteWrite', work.careUnit, operationId),
  withdraw: (work, operationId) => work.call('withdrawMedicalNote', work.careUnit, operationId),
  respond({ ehr, careUnit }, plan, note) {
    const callersId = (ehrId: string) => (ehrId === plan.appointmentId ? plan.callersAppointmentId : null) ?? ehrId;
    return {
      status: 201,
      headers: { location: medicalNotePath(ehr.id, careUnit.id, note) },
      body: medicalNoteBody(note, careUnit.timeZone, callersId),
    };
  },
});
