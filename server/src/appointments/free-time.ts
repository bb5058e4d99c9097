import { coversWithoutGap, type TimeSlot } from '@crossward/connector-kit';
import type { CareUnitConnection, EhrConnection } from '../ehr/connection.ts';

interface WantedTime {
  readonly resourceId: string;
  readonly healthcareServiceId: string;
  readonly start: Date;
  readonly end: Date;
}

/** More than a day of the shortest slots that make sense. */
const mostSlots = 1500;

/** The resource's slots of a service inside a range, counting the time of `freeing` as free. */
export function freeSlots(
  ehr: EhrConnection,
  careUnit: CareUnitConnection,
  { resourceId, healthcareServiceId, start, end }: WantedTime,
  freeing: readonly string[] = [],
): Promise<readonly TimeSlot[]> {
  return ehr.call('listTimeSlots', {
    careUnit,
    start,
    end,
    resourceIds: [resourceId],
    healthcareServiceIds: [healthcareServiceId],
    freeing,
    limit: mostSlots,
  });
}

/** Whether a booking of this time would find it free. Nothing keeps it free afterwards. */
export async function isFree(
  ehr: EhrConnection,
  careUnit: CareUnitConnection,
  wanted: WantedTime,
  freeing: readonly string[] = [],
): Promise<boolean> {
  return coversWithoutGap(await freeSlots(ehr, careUnit, wanted, freeing), wanted);
}
