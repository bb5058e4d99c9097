import type { HealthcareService } from '@crossward/connector-kit';
import { compareIds, type Directory, identifiersOf, Type } from '@crossward/connector-kit/rest';
import { listAll, type Reader } from './records.ts';
import type { UnitSettings } from './settings.ts';

const practitionerKind = {
  name: 'practitioner',
  schema: Type.Object({ id: Type.String(), name: Type.String(), services: Type.Array(Type.String()) }),
};

const serviceKind = {
  name: 'service',
  schema: Type.Object({ id: Type.String(), label: Type.String(), minutes: Type.Number() }),
};

/** Sorted by id in the order of code units, as the port requires. */
export async function readLists(reader: Reader & { readonly unit: UnitSettings }): Promise<Directory> {
  const found = await listAll(reader, '/practitioners/search', reader.unit, practitionerKind);
  const resources = found.map(({ id, name, services }) => ({
    id,
    identifiers: identifiersOf(id),
    kind: 'practitioner' as const,
    name,
    healthcareServiceIds: services,
  }));
  return { resources: resources.sort(compareIds), services: await listHealthcareServices(reader) };
}

export async function listHealthcareServices(reader: Reader): Promise<readonly HealthcareService[]> {
  const found = await listAll(reader, '/services/search', {}, serviceKind);
  return found.map(({ id, label, minutes }) => ({ id, name: label, durationMinutes: minutes })).sort(compareIds);
}
