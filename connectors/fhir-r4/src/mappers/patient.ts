import { type Patient, type PatientIdentifierType, personIn } from '@crossward/connector-kit';
import type { FhirPatient } from '../fhir.ts';
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
    ...personIn(resource, now),
  };
}
