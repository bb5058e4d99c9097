import type { CareUnit, HealthcareService, Resource, ResourceIdentifier } from '@crossward/connector-kit';
import { type EhrClient, isText, type Kind } from './ehr-client.ts';

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

const practitionerKind: Kind<Practitioner> = {
  name: 'practitioner',
  fields: { id: isText, name: isText, services: (it) => Array.isArray(it) && it.every(isText) },
};

const serviceKind: Kind<Service> = {
  name: 'service',
  fields: { id: isText, label: isText, minutes: Number.isFinite },
};

/** Sorted by id in the order of code units, as the port requires. */
export async function listResources(ehr: EhrClient, careUnit: CareUnit): Promise<readonly Resource[]> {
  const found = await ehr.list('/practitioners/search', { department: careUnit.id }, practitionerKind);
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
  const found = await ehr.list('/services/search', {}, serviceKind);
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
