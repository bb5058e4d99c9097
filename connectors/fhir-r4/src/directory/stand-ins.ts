import { ConnectorError } from '@crossward/connector-kit';
import type { FhirSchedule } from '../fhir.ts';
import { resourceReference } from '../mappers/resource.ts';
import type { CareUnitSettings } from '../settings.ts';

/*
 * With the setting `slots.by_service`, Schedules are known by the Slots of a search alone. So one stands in for all Schedules of
 * each resource that a care unit names.
 */

/** @throws ConnectorError `rejected` if the care unit names no resources */
export function standInSchedules({ resources }: CareUnitSettings): readonly FhirSchedule[] {
  if (!resources) {
    throw new ConnectorError('rejected', 'With slots.by_service, the settings of each care unit name its resources');
  }
  return resources.flatMap((id) => {
    const actor = resourceReference(id);
    return actor === undefined ? [] : [standInFor(actor)];
  });
}

export function standInFor(actor: string): FhirSchedule {
  return { resourceType: 'Schedule', id: `of-${actor.replace('/', '-')}`, actor: [{ reference: actor }] };
}
