import type { Resource } from '@crossward/connector-kit';
import type { FhirDevice } from '../fhir.ts';
import { resourceId } from './resource-id.ts';

export function deviceResource(device: FhirDevice, healthcareServiceIds: readonly string[]): Resource {
  const id = resourceId(`Device/${device.id}`);
  const names = device.deviceName ?? [];
  const name = names.find(({ type }) => type === 'user-friendly-name')?.name ?? names[0]?.name;
  return {
    id,
    identifiers: [{ type: 'emr_id', value: id }],
    kind: 'device',
    name: name ?? device.type?.text ?? device.type?.coding?.[0]?.display ?? id,
    healthcareServiceIds,
  };
}
