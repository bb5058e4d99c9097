import type { MedicalNote } from '@crossward/connector-kit';
import { formatIdentifier } from '../identifiers/index.ts';
import { formatInstant } from '../time/date-times.ts';
import type { MedicalNoteBody } from './contract.ts';

/** @param callersAppointmentId the caller's id of an appointment, by the EHR's id */
export function medicalNoteBody(
  note: MedicalNote,
  timeZone: string,
  callersAppointmentId: (ehrId: string) => string,
): MedicalNoteBody {
  return {
    id: note.id,
    patient_id: formatIdentifier({ type: 'emr_id', value: note.patientId }),
    created_at: formatInstant(note.createdAt, timeZone),
    author_id: note.authorId === null ? null : formatIdentifier({ type: 'emr_id', value: note.authorId }),
    title: note.title,
    text: note.text,
    appointment_id: note.appointmentId === null ? null : callersAppointmentId(note.appointmentId),
  };
}

export function medicalNotePath(emr: string, careUnitId: string, { id, patientId }: MedicalNote): string {
  const patient = formatIdentifier({ type: 'emr_id', value: patientId });
  const parts = ['', 'api', 'emrs', emr, 'care-units', careUnitId, 'patients', patient, 'medical-notes', id];
  return parts.map(encodeURIComponent).join('/');
}
