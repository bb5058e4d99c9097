import type { Patient } from '@crossward/connector-kit';
import type { FastifyInstance } from 'fastify';
import type { Static } from 'typebox';
import { patientIdentifier } from '../api/identifiers.ts';
import { addOperation } from '../api/route.ts';
import { ehrReadReasons, identifierReasons } from '../api/route-reasons.ts';
import { patientNotation } from '../api/schemas.ts';
import { requirePatient } from '../ehr/lookups.ts';
import { formatIdentifier } from '../identifiers/index.ts';
import { inPath } from '../problems/places.ts';
import { Problem } from '../problems/problem.ts';
import { patientSchema } from './contract.ts';

export function addPatientRoutes(app: FastifyInstance): void {
  app.addSchema(patientSchema);

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
    async handle({ ehr, params, readHeader }) {
      if (!ehr.offers('findPatient')) throw new Problem('operation_unsupported');
      const place = inPath('patient_id');
      const patient = await requirePatient(ehr, patientIdentifier(params.patient_id, place, ehr, readHeader), place);
      return { body: patientBody(patient) };
    },
  });
}

type PatientBody = Static<typeof patientSchema>;

function patientBody(patient: Patient): PatientBody {
  return {
    id: formatIdentifier({ type: 'emr_id', value: patient.id }),
    identifiers: patient.identifiers.map(formatIdentifier),
    given_name: patient.givenName,
    family_name: patient.familyName,
    birth_date: patient.birthDate,
    gender: patient.gender,
    phone: patient.phone,
    email: patient.email,
    address: patient.address && {
      lines: [...patient.address.lines],
      postal_code: patient.address.postalCode,
      city: patient.address.city,
      country: patient.address.country,
    },
  };
}
