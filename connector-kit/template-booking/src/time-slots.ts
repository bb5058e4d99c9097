import type { CareUnit, TimeSlot, TimeSlotQuery } from '@crossward/connector-kit';
import { timeSlotsFor } from '@crossward/connector-kit/rest';
import { readAppointments } from './appointment-reads.ts';
import type { Clinic } from './clinic.ts';
import { type EhrClient, isListOfTexts, isText, type Kind } from './ehr-client.ts';
import { datesOf, isTime, type Range } from './times.ts';

export interface EhrSlot {
  readonly id: string;
  readonly practitioner: string;
  readonly services: readonly string[];
  readonly start: string;
  readonly end: string;
  readonly isFree: boolean;
}

const slotKind: Kind<EhrSlot> = {
  name: 'slot',
  fields: {
    id: isText,
    practitioner: isText,
    services: isListOfTexts,
    start: isTime,
    end: isTime,
    isFree: (it) => typeof it === 'boolean',
  },
};

/** The EHR lists slots by day, of everybody, taken ones too. */
export async function listTimeSlots(clinic: Clinic, query: TimeSlotQuery): Promise<readonly TimeSlot[]> {
  const slots = await freeSlotsOf(clinic.client, query.careUnit, query, query.freeing);
  const offered = slots.flatMap(({ practitioner, services, start, end }) =>
    services.map((service) => ({
      start: new Date(start),
      end: new Date(end),
      resourceId: practitioner,
      healthcareServiceId: service,
    })),
  );
  return timeSlotsFor(offered, query, clinic.now());
}

/** @param freeing ids of appointments whose slots count as free */
export async function freeSlotsOf(
  client: EhrClient,
  careUnit: CareUnit,
  range: Range,
  freeing: readonly string[] = [],
): Promise<readonly EhrSlot[]> {
  const days = datesOf(careUnit, range);
  if (!days) return [];
  const freed = freeing.length === 0 ? [] : await readAppointments(client, careUnit, freeing);
  const freedIds = freed.filter(({ status }) => status !== 'cancelled').map(({ slot }) => slot);
  const slots = await client.list('/slots/search', { department: careUnit.id, ...days }, slotKind);
  return slots.filter(({ id, isFree }) => isFree || freedIds.includes(id));
}
