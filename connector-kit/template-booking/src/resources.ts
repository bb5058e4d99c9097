import type { CareUnit, HealthcareService, Resource } from '@crossward/connector-kit';
import { compareText } from '@crossward/connector-kit/rest';
import { type EhrClient, isListOfTexts, isText, type Kind } from './ehr-client.ts';

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
  fields: { id: isText, name: isText, services: isListOfTexts },
};

const serviceKind: Kind<Service> = {
  name: 'service',
  fields: { id: isText, label: isText, minutes: Number.isFinite },
};

/** Sorted by id in the order of code units, as the port requires. */
export async function listResources(client: EhrClient, careUnit: CareUnit): Promise<readonly Resource[]> {
  const found = await client.list('/practitioners/search', { department: careUnit.id }, practitionerKind);
  return found.map(resource).sort((a, b) => compareText(a.id, b.id));
}

export async function listHealthcareServices(client: EhrClient): Promise<readonly HealthcareService[]> {
  const found = await client.list('/services/search', {}, serviceKind);
  return found
    .map(({ id, label, minutes }) => ({ id, name: label, durationMinutes: minutes }))
    .sort((a, b) => compareText(a.id, b.id));
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
