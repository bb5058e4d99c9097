import { type Resource, type ResourceIdentifierType, wholeName } from '@crossward/connector-kit';
import type { FhirPractitioner } from '../fhir.ts';
import { type IdentifierSystems, knownNumbers, type NumberType } from './identifiers.ts';

export function practitionerResource(
  practitioner: FhirPractitioner,
  healthcareServiceIds: readonly string[],
  systems: IdentifierSystems,
  types: readonly ResourceIdentifierType[],
  now: Date,
): Resource {
  const id = practitioner.id ?? '';
  const numbers = types.filter(
    (type): type is Exclude<ResourceIdentifierType, 'emr_id'> & NumberType => type !== 'emr_id',
  );
  return {
    id,
    identifiers: [
      { type: 'emr_id', value: id },
      ...knownNumbers(systems, numbers, practitioner.identifier, practitioner.birthDate),
    ],
    kind: 'practitioner',
    name: wholeName(practitioner.name, now) ?? id,
    healthcareServiceIds,
  };
}
