import type { TimeSlot, TimeSlotPosition, TimeSlotQuery } from '@crossward/connector-kit';
import { type EhrClient, isText, isTime, type Kind } from './ehr-client.ts';
import { compareKeys } from './order.ts';

interface FreeTime {
  readonly practitioner: string;
  readonly service: string;
  readonly start: string;
  readonly end: string;
}

const freeTimeKind: Kind<FreeTime> = {
  name: 'free time',
  fields: { practitioner: isText, service: isText, start: isTime, end: isTime },
};

export async function listTimeSlots(ehr: EhrClient, query: TimeSlotQuery): Promise<readonly TimeSlot[]> {
  const { careUnit, start, end, resourceIds, healthcareServiceIds, freeing = [], after, limit } = query;
  const wanted = { department: careUnit.id, from: start, to: end, freeing };
  const times = await ehr.list('/free-times/search', wanted, freeTimeKind);
  return times
    .map(slot)
    .filter(({ resourceId }) => resourceIds?.includes(resourceId) ?? true)
    .filter(({ healthcareServiceId }) => healthcareServiceIds?.includes(healthcareServiceId) ?? true)
    .filter((it) => after === undefined || compareKeys(keys(it), keys(after)) > 0)
    .sort((a, b) => compareKeys(keys(a), keys(b)))
    .slice(0, limit);
}

function slot({ practitioner, service, start, end }: FreeTime): TimeSlot {
  return { start: new Date(start), end: new Date(end), resourceId: practitioner, healthcareServiceId: service };
}

function keys({ start, resourceId, healthcareServiceId }: TimeSlotPosition) {
  return [start.getTime(), resourceId, healthcareServiceId];
}
