import type { CareUnit, HealthcareService, Resource, ResourceIdentifier } from '@crossward/connector-kit';
import type { EhrClient } from './ehr-client.ts';

interface Practitioner {
  readonly id: string;
  readonly name: string;
  readonly services: readonly string[];
}

interface Service {
  readonly id: string;
  readonly label: string;
  readonly minutes: number;
}

/** Sorted by id in the order of code units, as the port requires. */
export async function listResources(ehr: EhrClient, careUnit: CareUnit): Promise<readonly Resource[]> {
  const found = await ehr.post<Practitioner>('/practitioners/search', { department: careUnit.id });
  return found.map(resource).sort(byId);
}

export async function findResource(
  ehr: EhrClient,
  careUnit: CareUnit,
  { value }: ResourceIdentifier,
): Promise<Resource | null> {
  return (await listResources(ehr, careUnit)).find(({ id }) => id === value) ?? null;
}

export async function listHealthcareServices(ehr: EhrClient): Promise<readonly HealthcareService[]> {
  const found = await ehr.post<Service>('/services/search', {});
  return found.map(({ id, label, minutes }) => ({ id, name: label, durationMinutes: minutes })).sort(byId);
}

function resource({ id, name, services }: Practitioner): Resource {
  return {
    id,
    identifiers: [{ type: 'emr_id', value: id }],
    kind: 'practitioner',
    name,
    healthcareServiceIds: services,
  };
}

function byId(a: { readonly id: string }, b: { readonly id: string }): number {
  return a.id < b.id ? -1 : 1;
}
