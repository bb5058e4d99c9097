import type { CareUnitDirectory } from '../../directory/directory.ts';
import type { FhirSlot } from '../../fhir.ts';
import type { FhirConnection } from '../../server/connection.ts';
import { searchSlots } from '../../slots/search.ts';
import type { WantedTime } from '../changes/drafts.ts';

/** All slots of a resource that start in a time, whatever their status is. */
export function slotsAt(
  ehr: FhirConnection,
  directory: CareUnitDirectory,
  { resourceId, serviceId, start, end }: WantedTime,
): Promise<readonly FhirSlot[]> {
  return searchSlots(ehr, directory, directory.schedulesOf([resourceId]), {
    start,
    before: end,
    statuses: undefined,
    few: true,
    services: serviceId === null ? undefined : [serviceId],
  });
}
