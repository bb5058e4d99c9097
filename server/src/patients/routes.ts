import type { Patient } from '@crossward/connector-kit';
import type { FastifyInstance } from 'fastify';
import type { Static } from 'typebox';
import { contentOnly } from '../api/audit-request.ts';
import { patientIdentifier } from '../api/identifiers.ts';
import type { Cursors } from '../api/paging.ts';
import { addOperation } from '../api/route.ts';
import { ehrReadReasons, identifierReasons } from '../api/route-reasons.ts';
import { patientNotation } from '../api/schemas.ts';
import type { ClientRegistry } from '../clients/client-registry.ts';
import type { CareUnitConnection } from '../ehr/connection.ts';
import { requirePatient } from '../ehr/lookups.ts';
import { phoneOf } from '../ehr/patient-phone.ts';
import { formatIdentifier } from '../identifiers/index.ts';
import type { OperationServices } from '../operations/services.ts';
import { inPath } from '../problems/places.ts';
import { Problem } from '../problems/problem.ts';
import { type AccessBody, accessListSchema, accessQuery, accessSchema, patientSchema } from './contract.ts';
import { listAccesses } from './list-accesses.ts';

const accessExample: AccessBody = {
  time: '2027-03-19T09:25:00+01:00',
  actor: 'client',
  client: { id: 'booking-site', name: 'Booking site' },
  operation: 'list_appointments',
  care_unit_id: 'oslo-sentrum',
  outcome: 'success',
  request_id: 'c4ac084f-7e88-4098-9555-dd9a14eb604b',
};

interface Dependencies {
  readonly cursors: Cursors;
  readonly services: OperationServices;
  readonly clients: ClientRegistry;
}

export function addPatientRoutes(app: FastifyInstance, { cursors, services, clients }: Dependencies): void {
  app.addSchema(patientSchema);
  app.addSchema(accessSchema);

  addOperation(app, {
    operationId: 'get_patient',
    tag: 'Patients',
    summary: 'Get a patient',
    level: 'care_unit',
    method: 'GET',
    path: '/patients/:patient_id',
    needs: ['findPatient'],
    audit: (body) => ({ patients: (body as PatientBody).identifiers, records: [] }),
    scopes: ['patients:read'],
    params: { patient_id: patientNotation() },
    response: { status: 200, description: 'The patient.', schema: patientSchema },
    reasons: ['patient_not_found', ...identifierReasons, ...ehrReadReasons],
    examples: {
      params: { emr: 'sandbox-no', care_unit_id: 'oslo-sentrum', patient_id: 'emr_id:p-3' },
      response: {
        id: 'emr_id:p-3',
        identifiers: ['emr_id:p-3'],
        given_name: 'Rolig',
        family_name: 'Strandsand',
        birth_date: '1974-01-30',
        gender: 'male',
        phone: '+4700000003',
        email: 'p-3@patients.example',
        address: { lines: ['Prøveveien 3'], postal_code: '0001', city: 'Oslo', country: 'NO' },
      },
    },
    async handle({ ehr, careUnit, params, readHeader }) {
      if (!ehr.offers('findPatient')) throw new Problem('operation_unsupported');
      const place = inPath('patient_id');
      const patient = await requirePatient(ehr, patientIdentifier(params.patient_id, place, ehr, readHeader), place);
      return { body: patientBody(patient, careUnit) };
    },
  });

  addOperation(app, {
    operationId: 'list_accesses',
    tag: 'Patients',
    summary: "List who had access to a patient's record",
    description:
      'From the audit trail, at all care units of the EHR that the client is granted. For an application that shows ' +
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
      'time_range_invalid',
      'local_time_nonexistent',
      'cursor_invalid',
      ...identifierReasons,
      ...ehrReadReasons,
    ],
    examples: {
      params: { emr: 'sandbox-no', care_unit_id: 'oslo-sentrum', patient_id: 'emr_id:p-3' },
      query: { start: '2027-03-01T00:00:00' },
      response: { accesses: [accessExample], next_cursor: null },
    },
    async handle({ params, query, readHeader, ...access }) {
      const place = inPath('patient_id');
      const named = patientIdentifier(params.patient_id, place, access.ehr, readHeader);
      const patient = await requirePatient(access.ehr, named, place);
      return {
        body: await listAccesses(access, [named, ...patient.identifiers, idOf(patient)], query, {
          cursors,
          services,
          clients,
        }),
      };
    },
  });
}

function idOf({ id }: Patient) {
  return { type: 'emr_id', value: id } as const;
}

type PatientBody = Static<typeof patientSchema>;

function patientBody(patient: Patient, careUnit: CareUnitConnection): PatientBody {
  return {
    id: formatIdentifier(idOf(patient)),
    identifiers: patient.identifiers.map(formatIdentifier),
    given_name: patient.givenName,
    family_name: patient.familyName,
    birth_date: patient.birthDate,
    gender: patient.gender,
    phone: phoneOf(patient, careUnit),
    email: patient.email,
    address: patient.address && {
      lines: [...patient.address.lines],
      postal_code: patient.address.postalCode,
      city: patient.address.city,
      country: patient.address.country,
    },
  };
}
