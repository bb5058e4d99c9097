import {
  ConnectorError,
  genders,
  numberIn,
  type Patient,
  type PatientIdentifier,
  patientPhones,
  spellingsOf,
} from '@crossward/connector-kit';
import { type EhrClient, isText, isTextOrNull, type Kind } from './ehr-client.ts';

/** The fields of the EHR's response that the connector uses. Other fields are ignored. */
interface EhrPatient {
  readonly id: string;
  readonly nhs: string | null;
  readonly given: string;
  readonly family: string;
  readonly born: string;
  readonly sex: string;
  readonly mobile: string | null;
}

const patientKind: Kind<EhrPatient> = {
  name: 'patient',
  fields: {
    id: isText,
    nhs: isTextOrNull,
    given: isText,
    family: isText,
    born: isText,
    sex: isText,
    mobile: isTextOrNull,
  },
};

export async function findPatient(client: EhrClient, { type, value }: PatientIdentifier): Promise<Patient | null> {
  const search = type === 'nhs_number' ? { nhs: spellingsOf({ type, value }) } : { id: value };
  const [found, ...more] = await client.read('/patients/search', search, patientKind);
  if (more.length > 0)
    throw new ConnectorError('patient_ambiguous', 'The EHR has several patients with the same identifier');
  return found ? patient(found) : null;
}

function patient({ id, nhs, given, family, born, sex, mobile }: EhrPatient): Patient {
  const number = numberIn('nhs_number', nhs);
  return {
    id,
    identifiers: [
      { type: 'emr_id', value: id },
      ...(number === undefined ? [] : [{ type: 'nhs_number', value: number } as const]),
    ],
    givenName: given,
    familyName: family,
    birthDate: born,
    gender: genders.find((it) => it === sex) ?? 'unknown',
    ...patientPhones([mobile]),
    email: null,
    address: null,
  };
}
