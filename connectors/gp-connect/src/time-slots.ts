import { isComplete, type TimeSlot, type TimeSlotPosition, type TimeSlotQuery } from '@crossward/connector-kit';
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
  const freed = await freedSlots(ehr, query, start);
  const found: TimeSlot[] = [];
  for await (const { slots } of freeSlots(ehr, { start, end })) {
    found.push(...slots.flatMap((it) => timeSlot(ehr, query, it)));
    if (pageOf(found, query).length >= limit) break;
  }
  return pageOf([...found, ...freed], query);
}

/** In order, and each once: two schedules of a practitioner can have slots at the same time. A booking gets the first. */
function pageOf(slots: readonly TimeSlot[], { after, limit }: TimeSlotQuery): readonly TimeSlot[] {
  const each = new Map(slots.toReversed().map((it) => [keyOf(it), it]));
  return [...each.values()]
    .filter((it) => after === undefined || compare(it, after) > 0)
    .sort(compare)
    .slice(0, limit);
}

function timeSlot(
  { directory }: GpConnectConnection,
  { careUnit, resourceIds, healthcareServiceIds }: TimeSlotQuery,
  slot: FreeSlot,
): TimeSlot[] {
  const resourceId = resourceIdOf(slot);
  const healthcareServiceId = directory.serviceOf(slot)?.id ?? '';
  const isWanted =
    directory.isAt(careUnit.id, slot) &&
    directory.resourceOf(careUnit.id, resourceId)?.healthcareServiceIds.includes(healthcareServiceId) === true &&
    (resourceIds?.includes(resourceId) ?? true) &&
    (healthcareServiceIds?.includes(healthcareServiceId) ?? true);
  const { start, end, channel } = slot;
  return isWanted ? [{ start, end, resourceId, healthcareServiceId, modality: modalityOf(channel) }] : [];
}

/** The times of the appointments that the caller is about to leave: one slot each, because their own slots are not shown. */
async function freedSlots(
  ehr: GpConnectConnection,
  { careUnit, freeing = [], end, resourceIds, healthcareServiceIds }: TimeSlotQuery,
  start: Date,
): Promise<readonly TimeSlot[]> {
  const appointments = await findAppointments(ehr, careUnit, freeing);
  return appointments
    .filter(isComplete)
    .filter((it) => it.state === 'booked' && it.start >= start && it.end <= end)
    .filter((it) => resourceIds?.includes(it.resourceId) ?? true)
    .filter((it) => healthcareServiceIds?.includes(it.healthcareServiceId) ?? true)
    .map(({ start: at, end: until, resourceId, healthcareServiceId, modality }) => {
      return { start: at, end: until, resourceId, healthcareServiceId, modality };
    });
}

function keyOf({ start, end, resourceId, healthcareServiceId }: TimeSlot): string {
  return JSON.stringify([start, end, resourceId, healthcareServiceId]);
}

function compare(a: TimeSlotPosition, b: TimeSlotPosition): number {
  return (
    a.start.getTime() - b.start.getTime() ||
    compareText(a.resourceId, b.resourceId) ||
    compareText(a.healthcareServiceId, b.healthcareServiceId)
  );
}

function compareText(a: string, b: string): number {
  return a === b ? 0 : a < b ? -1 : 1;
}
