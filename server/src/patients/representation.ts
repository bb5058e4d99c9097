import type { Patient } from '@crossward/connector-kit';
import type { Static } from 'typebox';
import type { ReadShown } from '../api/endpoint.ts';
import type { CareUnitConnection } from '../ehr/connection.ts';
import { phoneOf } from '../ehr/connection.ts';
import { formatIdentifier } from '../identifiers/index.ts';
import type { patientSchema } from './contract.ts';

export type PatientBody = Static<typeof patientSchema>;

/** For the audit trail. */
export const shownPatient: ReadShown = (body) => ({ patients: (body as PatientBody).identifiers, records: [] });

export function idOf({ id }: Patient) {
  return { type: 'emr_id', value: id } as const;
}

export function patientBody(patient: Patient, careUnit: CareUnitConnection): PatientBody {
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

/** For a client that may register patients and not read them. */
export function withoutContact(body: PatientBody): PatientBody {
  return { ...body, phone: null, email: null, address: null };
}

export function patientPath(emr: string, careUnitId: string, patient: Patient): string {
  const parts = ['', 'api', 'emrs', emr, 'care-units', careUnitId, 'patients', formatIdentifier(idOf(patient))];
  return parts.map(encodeURIComponent).join('/');
}
