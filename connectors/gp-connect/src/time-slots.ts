import { isComplete, type TimeSlot, type TimeSlotQuery } from '@crossward/connector-kit';
import { firstSlotStart, pageOfTimeSlots } from '@crossward/connector-kit/rest';
import { findAppointments } from './appointment-reads.ts';
import type { GpConnectConnection } from './connection.ts';
import { resourceIdOf } from './directory.ts';
import { modalityOf } from './modality.ts';
import { type FreeSlot, freeSlots } from './slots.ts';

/** Searches only as far ahead as the page needs: a search of two weeks can take seconds. */
export async function listTimeSlots(ehr: GpConnectConnection, query: TimeSlotQuery): Promise<readonly TimeSlot[]> {
  const now = ehr.now();
  const freed = await freedSlots(ehr, query);
  return pageOfTimeSlots(searched(ehr, query, firstSlotStart(query, now)), query, now, freed);
}

async function* searched(ehr: GpConnectConnection, query: TimeSlotQuery, start: Date) {
  for await (const { slots } of freeSlots(ehr, { start, end: query.end })) {
    yield slots.flatMap((it) => timeSlot(ehr, query, it));
  }
}

function timeSlot({ directory }: GpConnectConnection, { careUnit }: TimeSlotQuery, slot: FreeSlot): TimeSlot[] {
  const resourceId = resourceIdOf(slot);
  const healthcareServiceId = directory.serviceOf(slot)?.id ?? '';
  const isWanted =
    directory.isAt(careUnit.id, slot) &&
    directory.resourceOf(careUnit.id, resourceId)?.healthcareServiceIds.includes(healthcareServiceId) === true;
  const { start, end, channel } = slot;
  return isWanted ? [{ start, end, resourceId, healthcareServiceId, modality: modalityOf(channel) }] : [];
}

/** The times of the appointments that the caller is about to leave: one slot each, because their own slots are not shown. */
async function freedSlots(
  ehr: GpConnectConnection,
  { careUnit, freeing = [] }: TimeSlotQuery,
): Promise<readonly TimeSlot[]> {
  const appointments = (await findAppointments(ehr, careUnit, freeing)).filter(isComplete);
  return appointments
    .filter(({ state }) => state === 'booked')
    .map(({ start, end, resourceId, healthcareServiceId, modality }) => ({
      ...{ start, end, resourceId, healthcareServiceId, modality },
    }));
}
