import type { Connector } from '../connector.ts';
import { ConnectorError } from '../errors.ts';
import type { CareUnit, HealthcareService, Resource } from '../records.ts';
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
  lists: Lists,
): Required<Pick<Connector, 'findResource' | 'listResources' | 'listHealthcareServices'>> {
  return {
    findResource: async (careUnit, { type, value }) =>
      (await lists.find(careUnit, ({ resources }) =>
        resources.find(({ identifiers }) => identifiers.some((it) => it.type === type && it.value === value)),
      )) ?? null,
    listResources: async (careUnit) => (await lists.of(careUnit)).resources,
    listHealthcareServices: async (careUnit, wanted = []) =>
      (await servicesWith(lists, careUnit, wanted)) ?? (await lists.of(careUnit)).services,
  };
}

/** The services of the care unit. `undefined`: they are not all among them. */
export function servicesWith(
  lists: Lists,
  careUnit: CareUnit,
  wanted: readonly string[],
): Promise<readonly HealthcareService[] | undefined> {
  return lists.find(careUnit, ({ services }) =>
    wanted.every((id) => services.some((it) => it.id === id)) ? services : undefined,
  );
}

/** @throws ConnectorError `resource_not_found` */
export async function requireResource(lists: Lists, careUnit: CareUnit, id: string): Promise<Resource> {
  const found = await lists.find(careUnit, ({ resources }) => resources.find((it) => it.id === id));
  if (found) return found;
  throw new ConnectorError('resource_not_found', 'The care unit has no such resource');
}

/** @throws ConnectorError `healthcare_service_not_found` */
export async function requireService(lists: Lists, careUnit: CareUnit, id: string): Promise<HealthcareService> {
  const found = await lists.find(careUnit, ({ services }) => services.find((it) => it.id === id));
  if (found) return found;
  throw new ConnectorError('healthcare_service_not_found', 'The care unit has no such healthcare service');
}
