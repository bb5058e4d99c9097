import {
  genders,
  numberIn,
  type Patient,
  type PatientIdentifier,
  patientPhones,
  spellingsOf,
} from '@crossward/connector-kit';
import { identifiersOf, onlyPatient, type Static, Type } from '@crossward/connector-kit/rest';
import type { Clinic } from './clinic.ts';
import { readAll } from './records.ts';

/** The fields of the EHR's response that the connector uses. Other fields are ignored, and those that are null count as absent. */
const patientKind = {
  name: 'patient',
  schema: Type.Object({
    id: Type.String(),
    nhs: Type.Optional(Type.String()),
    given: Type.String(),
    family: Type.String(),
    born: Type.String(),
    sex: Type.String(),
    mobile: Type.Optional(Type.String()),
    died: Type.Boolean(),
  }),
};

export async function findPatient(clinic: Clinic, { type, value }: PatientIdentifier): Promise<Patient | null> {
  const search = type === 'nhs_number' ? { nhs: spellingsOf({ type, value }) } : { id: value };
  return onlyPatient((await readAll(clinic, '/patients/search', search, patientKind)).map(patient));
}

function patient(found: Static<typeof patientKind.schema>): Patient {
  const { id, nhs, given, family, born, sex, mobile, died } = found;
  return {
    id,
    identifiers: identifiersOf(id, 'nhs_number', numberIn('nhs_number', nhs)),
    givenName: given,
    familyName: family,
    birthDate: born,
    gender: genders.find((it) => it === sex) ?? 'unknown',
    ...patientPhones([mobile]),
    email: null,
    address: null,
    ...(died ? { isInactive: true } : {}),
  };
}
