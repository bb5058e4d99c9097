import type { HealthcareService, LeftOutRecord } from '@crossward/connector-kit';
import { compareText, type Directory, identifiersOf, Type } from '@crossward/connector-kit/rest';
import type { EhrClient } from './ehr-client.ts';
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
export async function readLists(
  client: EhrClient,
  { department }: UnitSettings,
  leftOut: (record: LeftOutRecord) => void,
): Promise<Directory> {
  const found = await listAll({ client, leftOut }, '/practitioners/search', { department }, practitionerKind);
  const resources = found.map(({ id, name, services }) => ({
    id,
    identifiers: identifiersOf(id),
    kind: 'practitioner' as const,
    name,
    healthcareServiceIds: services,
  }));
  return {
    resources: resources.sort((a, b) => compareText(a.id, b.id)),
    services: await listHealthcareServices({ client, leftOut }),
  };
}

export async function listHealthcareServices(reader: Reader): Promise<readonly HealthcareService[]> {
  const found = await listAll(reader, '/services/search', {}, serviceKind);
  return found
    .map(({ id, label, minutes }) => ({ id, name: label, durationMinutes: minutes }))
    .sort((a, b) => compareText(a.id, b.id));
}
