import type { Device, Location, Practitioner } from '@medplum/fhirtypes';
import type { Static } from 'typebox';
import type { CareUnitConnection } from '../../ehr/connection.ts';
import type { resourceSchema } from '../../resources/contract.ts';
import { fhirIdentifiers } from '../identifier-systems.ts';
import { careUnitLocationId, fhirIdOf, versionOf } from '../ids.ts';

export type ResourceBody = Static<typeof resourceSchema>;

/** The FHIR types of what can be booked, by native kind. */
export const typeOfKind = { practitioner: 'Practitioner', room: 'Location', device: 'Device' } as const;
export type BookableType = (typeof typeOfKind)[ResourceBody['kind']];

export function isBookableType(type: string): type is BookableType {
  return Object.values(typeOfKind).some((it) => it === type);
}

/** `undefined`: the id is too long to be named. */
export function toBookable(
  body: ResourceBody,
  careUnit: CareUnitConnection,
): Practitioner | Location | Device | undefined {
  const id = fhirIdOf(body.id);
  if (id === undefined) return undefined;
  const identifier = fhirIdentifiers(body.identifiers);
  const common = {
    id,
    meta: { versionId: versionOf(body) },
    ...(identifier.length > 0 ? { identifier } : {}),
  };
  switch (body.kind) {
    case 'practitioner':
      // The EHR has the name as one text. It is not split.
      return { resourceType: 'Practitioner', ...common, active: true, name: [{ text: body.name }] };
    case 'room': {
      const partOf = { reference: `Location/${careUnitLocationId(careUnit.id)}` };
      return { resourceType: 'Location', ...common, status: 'active', name: body.name, partOf };
    }
    case 'device': {
      const deviceName = [{ name: body.name, type: 'user-friendly-name' as const }];
      return { resourceType: 'Device', ...common, status: 'active', deviceName };
    }
  }
}

/** The care unit itself. */
export function toCareUnitLocation({ id, name }: CareUnitConnection): Location {
  return {
    resourceType: 'Location',
    id: careUnitLocationId(id),
    meta: { versionId: versionOf(id, name) },
    status: 'active',
    name,
  };
}
