import { isComplete, type TimeSlot, type TimeSlotQuery } from '@crossward/connector-kit';
import { timeSlotsFor } from '@crossward/connector-kit/rest';
import { findAppointments } from './appointment-reads.ts';
import type { GpConnectConnection } from './connection.ts';
import { resourceIdOf } from './directory.ts';
import { modalityOf } from './modality.ts';
import { type FreeSlot, freeSlots } from './slots.ts';

/** Searches only as far ahead as the page needs: a search of two weeks can take seconds. */
export async function listTimeSlots(ehr: GpConnectConnection, query: TimeSlotQuery): Promise<readonly TimeSlot[]> {
  const { now } = ehr;
  const { end, after, limit } = query;
  const start = new Date(Math.max(query.start.getTime(), now().getTime(), after?.start.getTime() ?? 0));
  const freed = await freedSlots(ehr, query);
  const found: TimeSlot[] = [];
  for await (const { slots } of freeSlots(ehr, { start, end })) {
    found.push(...slots.flatMap((it) => timeSlot(ehr, query, it)));
    if (timeSlotsFor(found, query, now()).length >= limit) break;
  }
  return timeSlotsFor([...found, ...freed], query, now());
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
