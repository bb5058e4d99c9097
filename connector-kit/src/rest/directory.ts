import type { Connector } from '../connector.ts';
import type { CareUnit, HealthcareService, Resource } from '../records.ts';
import { required } from './changeable.ts';
import type { KeptLists } from './kept-lists.ts';

/** What a care unit has. */
export interface Directory {
  /** Ordered by id. */
  readonly resources: readonly Resource[];
  /** Ordered by id. */
  readonly services: readonly HealthcareService[];
}

type Lists = KeptLists<Directory>;

/** The operations of the port that such lists answer. They are read anew for what they lack. */
export function directoryOperations(
  listsOf: (careUnit: CareUnit) => Lists,
): Required<Pick<Connector, 'findResource' | 'listResources' | 'listHealthcareServices'>> {
  return {
    findResource: async (careUnit, { type, value }) =>
      (await listsOf(careUnit).find(({ resources }) =>
        resources.find(({ identifiers }) => identifiers.some((it) => it.type === type && it.value === value)),
      )) ?? null,
    listResources: async (careUnit) => (await listsOf(careUnit).get()).resources,
    async listHealthcareServices(careUnit, wanted = []) {
      const lists = listsOf(careUnit);
      return (await servicesWith(lists, wanted)) ?? (await lists.get()).services;
    },
  };
}

/** The services of the care unit. `undefined`: these are not all among them. */
export function servicesWith(
  lists: Lists,
  wanted: readonly string[],
): Promise<readonly HealthcareService[] | undefined> {
  return lists.find(({ services }) =>
    wanted.every((id) => services.some((it) => it.id === id)) ? services : undefined,
  );
}

/** @throws ConnectorError `resource_not_found` */
export async function requireResource(lists: Lists, id: string): Promise<Resource> {
  return required(await lists.find(({ resources }) => resources.find((it) => it.id === id)), 'resource_not_found');
}

/** @throws ConnectorError `healthcare_service_not_found` */
export async function requireService(lists: Lists, id: string): Promise<HealthcareService> {
  const found = await lists.find(({ services }) => services.find((it) => it.id === id));
  return required(found, 'healthcare_service_not_found');
}
