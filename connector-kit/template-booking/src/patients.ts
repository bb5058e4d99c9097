import { ConnectorError, genders, type Patient, type PatientIdentifier } from '@crossward/connector-kit';
import type { EhrClient } from './ehr-client.ts';

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

export async function findPatient(ehr: EhrClient, { type, value }: PatientIdentifier): Promise<Patient | null> {
  const search = type === 'nhs_number' ? { nhs: value } : { id: value };
  const [found, ...more] = await ehr.post<EhrPatient>('/patients/search', search);
  if (more.length > 0) throw new ConnectorError('rejected', 'The EHR has several patients with the same identifier');
  return found ? patient(found) : null;
}

function patient({ id, nhs, given, family, born, sex, mobile }: EhrPatient): Patient {
  return {
    id,
    identifiers: [
      { type: 'emr_id', value: id },
      ...(nhs === null ? [] : [{ type: 'nhs_number', value: nhs } as const]),
    ],
    givenName: given,
    familyName: family,
    birthDate: born,
    gender: genders.find((it) => it === sex) ?? 'unknown',
    phone: mobile,
    email: null,
    address: null,
  };
}
