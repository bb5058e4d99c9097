import type { Resource } from '@crossward/connector-kit';
import type { FhirLocation } from '../fhir.ts';
import { resourceId } from './resource-id.ts';

export function locationResource(location: FhirLocation, healthcareServiceIds: readonly string[]): Resource {
  const id = resourceId(`Location/${location.id}`);
  return {
    id,
    identifiers: [{ type: 'emr_id', value: id }],
    kind: 'room',
    name: location.name ?? id,
    healthcareServiceIds,
  };
}
