import type { TimeSlot, TimeSlotQuery } from '@crossward/connector-kit';
import { type Static, Type, timeSlotsFor } from '@crossward/connector-kit/rest';
import { readAppointments, takesSlot } from './appointment-reads.ts';
import type { At } from './clinic.ts';
import { listAll } from './records.ts';
import { datesOf, type Range, timeSchema } from './times.ts';

const slotKind = {
  name: 'slot',
  schema: Type.Object({
    id: Type.String(),
    practitioner: Type.String(),
    services: Type.Array(Type.String()),
    start: timeSchema,
    end: timeSchema,
    isFree: Type.Boolean(),
  }),
};
export type EhrSlot = Static<typeof slotKind.schema>;

/** The EHR lists slots by day, of everybody, taken ones too. */
export async function listTimeSlots(at: At, query: TimeSlotQuery): Promise<readonly TimeSlot[]> {
  const slots = await freeSlotsOf(at, query, query.freeing);
  const offered = slots.flatMap(({ practitioner, services, start, end }) =>
    services.map((service) => ({
      start: new Date(start),
      end: new Date(end),
      resourceId: practitioner,
      healthcareServiceId: service,
    })),
  );
  return timeSlotsFor(offered, query, at.now());
}

/** @param freeing ids of appointments whose slots count as free */
export async function freeSlotsOf(at: At, range: Range, freeing: readonly string[] = []): Promise<readonly EhrSlot[]> {
  const days = datesOf(at.careUnit, range);
  if (!days) return [];
  const freed = freeing.length === 0 ? [] : await readAppointments(at, freeing);
  const freedIds = freed.filter(takesSlot).map(({ slot }) => slot);
  const slots = await listAll(at, '/slots/search', { ...at.unit, ...days }, slotKind);
  return slots.filter(({ id, isFree }) => isFree || freedIds.includes(id));
}
