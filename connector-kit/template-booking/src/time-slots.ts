import type { CareUnit, TimeSlot, TimeSlotQuery } from '@crossward/connector-kit';
import { type Static, Type, timeSlotsFor } from '@crossward/connector-kit/rest';
import { readAppointments, takesSlot } from './appointment-reads.ts';
import type { Clinic } from './clinic.ts';
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
export async function listTimeSlots(clinic: Clinic, query: TimeSlotQuery): Promise<readonly TimeSlot[]> {
  const slots = await freeSlotsOf(clinic, query.careUnit, query, query.freeing);
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
  clinic: Clinic,
  careUnit: CareUnit,
  range: Range,
  freeing: readonly string[] = [],
): Promise<readonly EhrSlot[]> {
  const days = datesOf(careUnit, range);
  if (!days) return [];
  const freed = freeing.length === 0 ? [] : await readAppointments(clinic, careUnit, freeing);
  const freedIds = freed.filter(takesSlot).map(({ slot }) => slot);
  const search = { ...clinic.unitOf(careUnit), ...days };
  const slots = await listAll(clinic, '/slots/search', search, slotKind);
  return slots.filter(({ id, isFree }) => isFree || freedIds.includes(id));
}
