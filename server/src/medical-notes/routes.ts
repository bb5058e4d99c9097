import type { MedicalNoteOperations } from '@crossward/connector-kit';
import type { Static } from 'typebox';
import { callersAppointmentIds } from '../api/appointment-references.ts';
import { oneRecord, recordsIn } from '../api/audit-request.ts';
import { type EndpointGroup, endpoint } from '../api/endpoint.ts';
import { patientIdentifier } from '../api/identifiers.ts';
import { ehrReadReasons, identifierReasons } from '../api/route-reasons.ts';
import { patientNotation, reference, text } from '../api/schemas.ts';
import type { EhrConnection } from '../ehr/connection.ts';
import { requirePatient } from '../ehr/lookups.ts';
import type { ReadHeader } from '../identifiers/index.ts';
import { inPath } from '../problems/places.ts';
import { Problem, problemAt } from '../problems/problem.ts';
import { plannedWrite } from '../writes/write-kind.ts';
import {
  type MedicalNoteBody,
  medicalNoteCreationSchema,
  medicalNoteListSchema,
  medicalNoteQuery,
  medicalNoteSchema,
} from './contract.ts';
import { medicalNoteKind } from './kind.ts';
import { listNotes } from './list-notes.ts';
import { planNote } from './plan-note.ts';
import { medicalNoteBody } from './representation.ts';

const mebibyte = 1024 * 1024;
const place = { emr: 'sandbox-no', care_unit_id: 'oslo-sentrum', patient_id: 'emr_id:p-3' };
const patientParam = { patient_id: patientNotation() };
const example: MedicalNoteBody = {
  id: 'c1f6a0de-52f5-4d2c-8e4e-3a5f3e4f8a10',
  patient_id: 'emr_id:p-3',
  created_at: '2027-03-19T09:25:00+01:00',
  author_id: 'emr_id:r-1',
  title: 'Control',
  text: 'The wound has healed. No further visits are needed.',
  appointment_id: null,
};

const listMedicalNotes = endpoint({
  operationId: 'list_medical_notes',
  tag: 'Medical notes',
  summary: 'List medical notes',
  level: 'care_unit',
  method: 'GET',
  path: '/patients/:patient_id/medical-notes',
  needs: ['patients', 'listMedicalNotes'],
  audit: recordsIn('medical_notes'),
  scopes: ['notes:read'],
  params: patientParam,
  query: medicalNoteQuery,
  response: {
    status: 200,
    description: 'Notes written at the care unit, newest first.',
    schema: medicalNoteListSchema,
  },
  reasons: [
    'patient_not_found',
    'patient_ambiguous',
    'time_range_invalid',
    'local_time_nonexistent',
    'cursor_invalid',
    ...identifierReasons,
    ...ehrReadReasons,
  ],
  reasonsOfNames: ['resource_not_found'],
  examples: {
    params: place,
    query: { start: '2027-03-01T00:00:00' },
    response: { medical_notes: [example], next_cursor: null },
  },
  async handle({ params, query, readHeader, ...access }) {
    const { ehr, careUnit } = access;
    const patientId = await patientIdInPath(ehr, 'listMedicalNotes', params.patient_id, readHeader);
    const { entries, next_cursor } = await listNotes(access, patientId, query, readHeader);
    const callersId = await callersAppointmentIds(
      access,
      entries.flatMap(({ appointmentId }) => appointmentId ?? []),
    );
    const medical_notes = entries.map((note) => medicalNoteBody(note, careUnit.timeZone, callersId));
    return { body: { medical_notes, next_cursor } };
  },
});

const createMedicalNote = endpoint({
  operationId: 'create_medical_note',
  tag: 'Medical notes',
  summary: 'Create a medical note',
  description: 'The body can have up to 2 MiB.',
  level: 'care_unit',
  method: 'POST',
  path: '/patients/:patient_id/medical-notes',
  needs: ['patients', 'createMedicalNote'],
  audit: oneRecord,
  scopes: ['notes:write'],
  params: patientParam,
  body: reference<Static<typeof medicalNoteCreationSchema>>('MedicalNoteCreation'),
  // 100,000 characters, each written as two \u escapes, have 1.2 MB.
  bodyLimit: 2 * mebibyte,
  response: { status: 201, description: 'The note.', schema: medicalNoteSchema },
  reasons: [
    'patient_not_found',
    'patient_ambiguous',
    'author_not_practitioner',
    'appointment_awaiting_confirmation',
    'appointment_cancelled',
    ...identifierReasons,
    ...ehrReadReasons,
    'outcome_unknown',
    'partially_applied',
  ],
  reasonsOfNames: ['resource_not_found', 'appointment_not_found'],
  examples: {
    params: place,
    body: { title: example.title, text: example.text, author_id: 'r-1' },
    response: example,
  },
  async plan({ params, body, readHeader, ...access }) {
    const patientId = await patientIdInPath(access.ehr, 'createMedicalNote', params.patient_id, readHeader);
    return plannedWrite(medicalNoteKind, await planNote(access, patientId, body, readHeader));
  },
});

const getMedicalNote = endpoint({
  operationId: 'get_medical_note',
  tag: 'Medical notes',
  summary: 'Get a medical note',
  level: 'care_unit',
  method: 'GET',
  path: '/patients/:patient_id/medical-notes/:medical_note_id',
  needs: ['patients', 'findMedicalNote'],
  audit: oneRecord,
  scopes: ['notes:read'],
  params: { ...patientParam, medical_note_id: text({ description: 'Id of the note.' }) },
  response: { status: 200, description: 'The note.', schema: medicalNoteSchema },
  reasons: [
    'patient_not_found',
    'patient_ambiguous',
    'medical_note_not_found',
    ...identifierReasons,
    ...ehrReadReasons,
  ],
  examples: { params: { ...place, medical_note_id: example.id }, response: example },
  async handle({ params, readHeader, ...access }) {
    const { ehr, careUnit } = access;
    const patientId = await patientIdInPath(ehr, 'findMedicalNote', params.patient_id, readHeader);
    const note = await ehr.call('findMedicalNote', careUnit, patientId, params.medical_note_id);
    if (!note) {
      const detail = 'The patient has no medical note with this id at the care unit.';
      throw problemAt(inPath('medical_note_id'), 'medical_note_not_found', detail);
    }
    const callersId = await callersAppointmentIds(access, note.appointmentId === null ? [] : [note.appointmentId]);
    return { body: medicalNoteBody(note, careUnit.timeZone, callersId) };
  },
});

export const medicalNoteEndpoints: EndpointGroup = {
  schemas: [medicalNoteSchema, medicalNoteCreationSchema],
  endpoints: [listMedicalNotes, createMedicalNote, getMedicalNote],
};

/**
 * The EHR's own id of the patient in the path.
 *
 * @throws Problem `operation_unsupported` without a look-up if the EHR lacks the operation
 */
async function patientIdInPath(
  ehr: EhrConnection,
  operation: keyof MedicalNoteOperations,
  text: string,
  readHeader: ReadHeader,
): Promise<string> {
  if (!ehr.offers(operation)) throw new Problem('operation_unsupported');
  const at = inPath('patient_id');
  return (await requirePatient(ehr, patientIdentifier(text, at, ehr, readHeader), at)).id;
}
