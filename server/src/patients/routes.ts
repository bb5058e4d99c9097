import type { Static } from 'typebox';
import { contentOnly } from '../api/audit-request.ts';
import { type EndpointGroup, endpoint } from '../api/endpoint.ts';
import { patientIdentifier } from '../api/identifiers.ts';
import { ehrReadReasons, identifierReasons } from '../api/route-reasons.ts';
import { patientNotation, reference } from '../api/schemas.ts';
import { requirePatient } from '../ehr/lookups.ts';
import { inPath } from '../problems/places.ts';
import { Problem } from '../problems/problem.ts';
import { plannedWrite } from '../writes/write-kind.ts';
import {
  type AccessBody,
  accessListSchema,
  accessQuery,
  accessSchema,
  patientCreationSchema,
  patientListSchema,
  patientSchema,
  patientSearchSchema,
} from './contract.ts';
import { patientKind } from './kind.ts';
import { pageOfAccesses } from './list-accesses.ts';
import { planPatient } from './plan-patient.ts';
import { idOf, type PatientBody, patientBody, shownPatient } from './representation.ts';
import { findPatients } from './search-patients.ts';
import { checkName } from './wrong-names.ts';

type PatientListBody = Static<typeof patientListSchema>;

const accessExample: AccessBody = {
  time: '2027-03-19T09:25:00+01:00',
  actor: 'client',
  client: { id: 'booking-site', name: 'Booking site' },
  operation: 'list_appointments',
  care_unit_id: 'oslo-sentrum',
  outcome: 'success',
  request_id: 'c4ac084f-7e88-4098-9555-dd9a14eb604b',
};

const patientExample: PatientBody = {
  id: 'emr_id:p-3',
  identifiers: ['emr_id:p-3'],
  given_name: 'Rolig',
  family_name: 'Strandsand',
  birth_date: '1974-01-30',
  gender: 'male',
  phone: '+4700000003',
  email: 'p-3@patients.example',
  address: { lines: ['Prøveveien 3'], postal_code: '0001', city: 'Oslo', country: 'NO' },
};
const place = { emr: 'sandbox-no', care_unit_id: 'oslo-sentrum' };

export const getPatient = endpoint({
  operationId: 'get_patient',
  tag: 'Patients',
  summary: 'Get a patient',
  level: 'care_unit',
  method: 'GET',
  path: '/patients/:patient_id',
  needs: ['findPatient'],
  audit: shownPatient,
  scopes: ['patients:read'],
  params: { patient_id: patientNotation() },
  response: { status: 200, description: 'The patient.', schema: patientSchema },
  reasons: ['patient_not_found', 'patient_ambiguous', ...identifierReasons, ...ehrReadReasons],
  examples: {
    params: { ...place, patient_id: 'emr_id:p-3' },
    response: patientExample,
  },
  async handle({ ehr, careUnit, params, readHeader }) {
    if (!ehr.offers('findPatient')) throw new Problem('operation_unsupported');
    const at = inPath('patient_id');
    const patient = await requirePatient(ehr, patientIdentifier(params.patient_id, at, ehr, readHeader), at);
    return { body: patientBody(patient, careUnit) };
  },
});

export const searchPatients = endpoint({
  operationId: 'search_patients',
  tag: 'Patients',
  summary: 'Search for patients',
  description:
    'By family name and birth date, or by phone number, which stay out of URLs. Returns at most 20 patients, ordered by ' +
    'id, without those whose record is out of use. `operations` of the EHR says whether it can be searched. Some ' +
    'can by one of the two only: the other is 501 `operation_unsupported`.',
  level: 'care_unit',
  method: 'POST',
  path: '/patients/search',
  needs: ['searchPatients'],
  audit: (body) => ({
    patients: (body as PatientListBody).patients.flatMap(({ identifiers }) => identifiers),
    records: [],
  }),
  scopes: ['patients:read'],
  body: reference<Static<typeof patientSearchSchema>>('PatientSearch'),
  response: { status: 200, description: 'The patients.', schema: patientListSchema },
  reasons: [...ehrReadReasons],
  examples: {
    params: place,
    body: { family_name: 'Strandsand', birth_date: '1974-01-30' },
    response: { patients: [patientExample] },
  },
  async handle({ ehr, careUnit, body }) {
    const patients = await findPatients(ehr, careUnit, body);
    return { body: { patients: patients.map((it) => patientBody(it, careUnit)) } };
  },
});

export const createPatient = endpoint({
  operationId: 'create_patient',
  tag: 'Patients',
  summary: 'Find or create a patient',
  description:
    'Returns the patient with this identifier. If the EHR has none, creates one. A patient who is found must have this ' +
    'family name and birth date, otherwise the response is 409 `patient_mismatch`, and shows nothing of the record. After ' +
    'five wrong ones of a client for a patient, the response is 429 `rate_limited` for a minute, whatever the name; each ' +
    'further one doubles the pause, up to an hour. Without `patients:read`, `phone`, `email` and `address` are null. Of ' +
    'several records with the identifier none is chosen: 409 `patient_ambiguous`. ' +
    'However often the request is sent, the EHR gets one patient.',
  level: 'care_unit',
  method: 'POST',
  path: '/patients',
  needs: ['findPatient', 'createPatient'],
  audit: shownPatient,
  scopes: ['patients:write'],
  body: reference<Static<typeof patientCreationSchema>>('PatientCreation'),
  response: {
    status: 201,
    description: 'The patient, who was created.',
    existing: 'The patient, whom the EHR had already.',
    schema: patientSchema,
  },
  reasons: ['patient_mismatch', 'patient_ambiguous', ...identifierReasons, ...ehrReadReasons, 'outcome_unknown'],
  examples: {
    params: place,
    body: {
      identifier: 'header:x-patient',
      given_name: 'Rolig',
      family_name: 'Strandsand',
      birth_date: '1974-01-30',
      phone: '+4700000003',
    },
    response: patientExample,
  },
  async plan({ body, readHeader, services, wrongNames, ...access }) {
    const plan = await planPatient(access, body, readHeader);
    const { found, named } = plan;
    const { client, ehr } = access;
    const check = found && { clientId: client.id, emr: ehr.id, found, named };
    return plannedWrite(patientKind, plan, check ? (tx) => checkName(tx, services, wrongNames, check) : undefined);
  },
});

const listAccesses = endpoint({
  operationId: 'list_accesses',
  tag: 'Patients',
  summary: 'List accesses',
  description:
    "Who had access to the patient's record: from the audit trail, at all care units of the EHR that the client is granted. For an application that shows " +
    'patients who has read their record (GDPR, article 15). The request itself is in the next list.',
  level: 'care_unit',
  method: 'GET',
  path: '/patients/:patient_id/accesses',
  needs: ['patients'],
  // What it shows names no patient but that of the request.
  audit: contentOnly,
  scopes: ['accesses:read'],
  params: { patient_id: patientNotation() },
  query: accessQuery,
  response: { status: 200, description: 'Accesses, newest first.', schema: accessListSchema },
  reasons: [
    'patient_not_found',
    'patient_ambiguous',
    'time_range_invalid',
    'local_time_nonexistent',
    'cursor_invalid',
    'audit_trail_incomplete',
    ...identifierReasons,
    ...ehrReadReasons,
  ],
  examples: {
    params: { ...place, patient_id: 'emr_id:p-3' },
    query: { start: '2027-03-01T00:00:00' },
    response: { accesses: [accessExample], next_cursor: null },
  },
  async handle({ params, query, readHeader, ...access }) {
    const at = inPath('patient_id');
    const named = patientIdentifier(params.patient_id, at, access.ehr, readHeader);
    const patient = await requirePatient(access.ehr, named, at);
    return { body: await pageOfAccesses(access, [named, ...patient.identifiers, idOf(patient)], query) };
  },
});

export const patientEndpoints: EndpointGroup = {
  schemas: [patientSchema, accessSchema, patientSearchSchema, patientCreationSchema],
  endpoints: [getPatient, searchPatients, createPatient, listAccesses],
};
