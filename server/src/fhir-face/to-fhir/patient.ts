import type { Address, ContactPoint, HumanName, Patient } from '@medplum/fhirtypes';
import type { Static } from 'typebox';
import type { patientSchema } from '../../patients/contract.ts';
import { fhirIdentifiers } from '../identifier-systems.ts';
import { fhirIdOf, versionOf } from '../ids.ts';

type PatientBody = Static<typeof patientSchema>;

/** `undefined`: the patient's id is too long to be named. */
export function toPatient(body: PatientBody): Patient | undefined {
  const id = fhirIdOf(body.id);
  if (id === undefined) return undefined;
  const identifier = fhirIdentifiers(body.identifiers);
  const name = nameOf(body);
  const telecom = telecomOf(body);
  const address = addressOf(body.address);
  return {
    resourceType: 'Patient',
    id,
    meta: { versionId: versionOf(body) },
    ...(identifier.length > 0 ? { identifier } : {}),
    ...(name ? { name: [name] } : {}),
    ...(telecom.length > 0 ? { telecom } : {}),
    ...(body.gender === null ? {} : { gender: body.gender }),
    ...(body.birth_date === null ? {} : { birthDate: body.birth_date }),
    ...(address ? { address: [address] } : {}),
  };
}

function nameOf({ given_name, family_name }: PatientBody): HumanName | undefined {
  if (!given_name && !family_name) return undefined;
  return {
    use: 'official',
    ...(family_name ? { family: family_name } : {}),
    ...(given_name ? { given: [given_name] } : {}),
  };
}

function telecomOf({ phone, email }: PatientBody): ContactPoint[] {
  return [
    ...(phone ? [{ system: 'phone' as const, value: phone }] : []),
    ...(email ? [{ system: 'email' as const, value: email }] : []),
  ];
}

function addressOf(address: PatientBody['address']): Address | undefined {
  if (!address) return undefined;
  const { lines, postal_code, city, country } = address;
  const line = lines.filter((it) => it.trim() !== '');
  if (line.length === 0 && !postal_code && !city && !country) return undefined;
  return {
    ...(line.length > 0 ? { line } : {}),
    ...(city ? { city } : {}),
    ...(postal_code ? { postalCode: postal_code } : {}),
    ...(country ? { country } : {}),
  };
}
