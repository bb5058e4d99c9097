import { type Patient, type PatientSearchKey, patientSearchKeys } from '@crossward/connector-kit';
import type { Static } from 'typebox';
import { reachedPatient } from '../context/work-context.ts';
import type { CareUnitConnection, EhrConnection } from '../ehr/connection.ts';
import { phoneOf } from '../ehr/connection.ts';
import { inBody } from '../problems/places.ts';
import { Problem, problemAt } from '../problems/problem.ts';
import type { patientSearchSchema } from './contract.ts';

/** Somebody who looks for one person needs no more. */
const mostPatients = 20;

/**
 * @throws Problem `request_invalid` unless the body has a family name and a birth date, or a phone number; `operation_unsupported`
 * if the EHR cannot be searched by them
 */
export async function findPatients(
  ehr: EhrConnection,
  careUnit: Pick<CareUnitConnection, 'defaultCountry'>,
  { family_name: familyName, birth_date: birthDate, phone }: Static<typeof patientSearchSchema>,
): Promise<readonly Patient[]> {
  if (!ehr.offers('searchPatients')) throw new Problem('operation_unsupported');
  const search = searchedFor(familyName, birthDate, phone);
  const keys = ehr.capabilities.patientSearchBy ?? patientSearchKeys;
  if (!keys.includes('phone' in search ? 'phone' : 'name'))
    throw new Problem('operation_unsupported', { detail: only(keys) });
  const people = await ehr.call('searchPatients', { limit: mostPatients, ...search });
  // A number without a country code is one of the care unit's country.
  const found = phone === undefined ? people : people.filter((it) => phoneOf(it, careUnit) === phone);
  for (const { id, identifiers } of found) reachedPatient({ type: 'emr_id', value: id }, ...identifiers);
  return found;
}

function searchedFor(familyName: string | undefined, birthDate: string | undefined, phone: string | undefined) {
  if (phone !== undefined) {
    if (familyName === undefined && birthDate === undefined) return { phone };
    throw problemAt(inBody('phone'), 'request_invalid', '`phone` cannot be sent with `family_name` or `birth_date`.');
  }
  if (familyName !== undefined && birthDate !== undefined) return { familyName, birthDate };
  const missing = familyName === undefined ? 'family_name' : 'birth_date';
  throw problemAt(inBody(missing), 'request_invalid', `/${missing} is missing. Send both, or \`phone\` alone.`);
}

const names: Readonly<Record<PatientSearchKey, string>> = {
  name: '`family_name` and `birth_date`',
  phone: '`phone`',
};

function only(keys: readonly PatientSearchKey[]): string {
  return `This EHR can be searched for patients by ${keys.map((it) => names[it]).join(', or ')} only.`;
}
