import { type Resource, type ResourceIdentifierType, wholeName } from '@crossward/connector-kit';
import type { FhirDevice, FhirLocation, FhirPractitioner } from '../fhir.ts';
import { type IdentifierSystems, knownNumbers } from './identifiers.ts';

export function practitionerResource(
  practitioner: FhirPractitioner,
  healthcareServiceIds: readonly string[],
  systems: IdentifierSystems,
  types: readonly ResourceIdentifierType[],
  now: Date,
): Resource {
  const id = practitioner.id ?? '';
  const numbers = types.filter((type) => type !== 'emr_id');
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

/**
 * A resource's id in the gateway. A Practitioner keeps its FHIR id; others have a prefix. No FHIR id contains `_`
 * (https://hl7.org/fhir/R4/datatypes.html#id), so the two cannot be equal.
 */
export function resourceId(reference: string): string {
  const [type = '', id = ''] = reference.split('/');
  return type === 'Practitioner' ? id : `${type.toLowerCase()}_${id}`;
}

/** The reference for an id. `undefined`: no resource can have this id. */
export function resourceReference(id: string): string | undefined {
  const [, prefix, plain = ''] = /^(?:(location|device)_)?((?!\.{1,2}$)[A-Za-z0-9.-]{1,64})$/.exec(id) ?? [];
  if (plain === '') return undefined;
  return `${prefix === 'location' ? 'Location' : prefix === 'device' ? 'Device' : 'Practitioner'}/${plain}`;
}
