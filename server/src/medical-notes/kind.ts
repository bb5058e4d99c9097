import type { MedicalNote } from '@crossward/connector-kit';
import { oneCallKind } from '../api/one-call-kind.ts';
import { type MedicalNotePlan, medicalNoteKindName } from './plan.ts';
import { reconcileNote } from './reconcile.ts';
import { medicalNoteBody, medicalNotePath } from './representation.ts';

/** Creates a medical note. */
export const medicalNoteKind = oneCallKind<MedicalNotePlan, MedicalNote>({
  name: medicalNoteKindName,
  findOperation: 'findMedicalNoteWrite',
  patientOf: ({ patientId }) => patientId,
  create: (work, write, { callersAppointmentId: _id, requestedAt: _at, ...note }) =>
    work.call('createMedicalNote', { ...write, ...note }),
  find: (work, operationId) => work.call('findMedicalNoteWrite', work.careUnit, operationId),
  reconcile: reconcileNote,
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
