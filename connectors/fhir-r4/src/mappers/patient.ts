import {
  type Address,
  contactsOfPatient,
  type Gender,
  genders,
  isCurrent,
  nameOfPatient,
  type Patient,
  type PatientIdentifierType,
} from '@crossward/connector-kit';
import type { FhirAddress, FhirPatient } from '../fhir.ts';
import { type IdentifierSystems, knownNumbers } from './identifiers.ts';

/** Maps a Patient to what the gateway shows: https://hl7.org/fhir/R4/patient.html */
export function toPatient(
  resource: FhirPatient,
  systems: IdentifierSystems,
  types: readonly PatientIdentifierType[],
  now: Date,
): Patient {
  const id = resource.id ?? '';
  const numbers = types.filter((type) => type !== 'emr_id');
  return {
    id,
    identifiers: [
      { type: 'emr_id', value: id },
      ...knownNumbers(systems, numbers, resource.identifier, resource.birthDate),
    ],
    ...nameOfPatient(resource.name, now),
    // A FHIR date may also be a year or a month.
    birthDate: /^\d{4}-\d{2}-\d{2}$/.test(resource.birthDate ?? '') ? (resource.birthDate ?? null) : null,
    gender: genders.includes(resource.gender as Gender) ? (resource.gender as Gender) : null,
    ...contactsOfPatient(resource.telecom, now),
    address: address(resource.address, now),
  };
}

function address(addresses: readonly FhirAddress[] = [], now: Date): Address | null {
  const usable = addresses.filter((it) => it.use !== 'old' && it.use !== 'billing' && isCurrent(it.period, now));
  const best = usable.find(({ use }) => use === 'home') ?? usable[0];
  if (!best) return null;
  const country = best.country?.trim().toUpperCase();
  return {
    lines: best.line ?? (best.text ? [best.text] : []),
    postalCode: best.postalCode ?? null,
    city: best.city ?? null,
    country: country !== undefined && /^[A-Z]{2}$/.test(country) ? country : null,
  };
}
