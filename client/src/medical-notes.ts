import { type CareUnitPlace, type Connection, inCareUnit } from './connection.ts';
import { type List, listOf } from './pages.ts';
import type { CallOptions, MedicalNote, MedicalNoteCreation, QueryOf, WriteOptions } from './types.ts';

/** The notes of a patient. `patientId` is sent in a header. */
export interface MedicalNotes {
  /** Newest first. */
  list(patientId: string, query?: QueryOf<'list_medical_notes'>, options?: CallOptions): List<MedicalNote>;
  get(patientId: string, noteId: string, options?: CallOptions): Promise<MedicalNote>;
  create(patientId: string, note: MedicalNoteCreation, options?: WriteOptions): Promise<MedicalNote>;
}

export function medicalNoteMethods({ raw, caller }: Connection, place: CareUnitPlace): MedicalNotes {
  const all = `${inCareUnit}/patients/{patient_id}/medical-notes` as const;
  return {
    list: (patient_id, query = {}, options) =>
      listOf('medical_notes', query, (cursor) =>
        caller.read(options, (init) =>
          raw.GET(all, { ...init, params: { path: { ...place, patient_id }, query: { ...query, ...cursor } } }),
        ),
      ),
    get: (patient_id, medical_note_id, options) =>
      caller.read(options, (init) =>
        raw.GET(`${all}/{medical_note_id}`, { ...init, params: { path: { ...place, patient_id, medical_note_id } } }),
      ),
    create: (patient_id, body, options) =>
      caller.write(options, (init) => raw.POST(all, { ...init, params: { path: { ...place, patient_id } }, body })),
  };
}
