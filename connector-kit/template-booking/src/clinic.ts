import type { CareUnit, ConnectorContext, HealthcareService, Resource } from '@crossward/connector-kit';
import { type KeptLists, keptLists } from '@crossward/connector-kit/rest';
import { createEhrClient, type EhrClient, type Settings } from './ehr-client.ts';
import { listHealthcareServices, listResources } from './resources.ts';

/** What the operations share. */
export interface Clinic {
  readonly client: EhrClient;
  readonly lists: KeptLists<{
    readonly resources: readonly Resource[];
    readonly services: readonly HealthcareService[];
  }>;
  now(): Date;
}

/** Opens without asking the EHR, so that a gateway starts while it is away. */
export function openClinic({ http, settings, now, leftOut }: ConnectorContext<Settings>): Clinic {
  const client = createEhrClient(http, settings, now, leftOut);
  const lists = keptLists(async (careUnit: CareUnit) => ({
    resources: await listResources(client, careUnit),
    services: await listHealthcareServices(client),
  }));
  return { client, lists, now };
}
