import type { AppointmentPosition, AppointmentQuery, TimeSlotPosition, TimeSlotQuery } from '../connector.ts';
import type { Appointment, TimeSlot } from '../records.ts';
import { overlaps } from '../time-slots.ts';

/** In the order of code units. */
export function compareText(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

/** Records by their ids, as the port wants them. */
export function compareIds(a: { readonly id: string }, b: { readonly id: string }): number {
  return compareText(a.id, b.id);
}

type Key = string | number;

/** By the first key that differs; texts in the order of code units. */
export function compareKeys(a: readonly Key[], b: readonly Key[]): number {
  for (const [index, key] of a.entries()) {
    const other = b[index];
    if (other === undefined || key === other) continue;
    return key < other ? -1 : 1;
  }
  return 0;
}

export function compareAppointments(a: AppointmentPosition, b: AppointmentPosition): number {
  return a.start.getTime() - b.start.getTime() || compareText(a.id, b.id);
}

export function compareTimeSlots(a: TimeSlotPosition, b: TimeSlotPosition): number {
  const keys = ({ start, resourceId, healthcareServiceId }: TimeSlotPosition) => [
    start.getTime(),
    resourceId,
    healthcareServiceId,
  ];
  return compareKeys(keys(a), keys(b));
}

type Time = Pick<Appointment, 'start' | 'end'>;

export function isSameTime(a: Time, b: Time): boolean {
  return a.start.getTime() === b.start.getTime() && a.end?.getTime() === b.end?.getTime();
}

/** Of the appointments, those that a query asks for, in order. The care unit and the patient are not compared. */
export function appointmentsFor(appointments: readonly Appointment[], query: AppointmentQuery): Appointment[] {
  const { resourceId, range, states = [], after, limit } = query;
  return appointments
    .filter((it) => resourceId === undefined || it.resourceId === resourceId)
    .filter((it) => range === undefined || overlaps(it, range))
    .filter(({ state }) => states.length === 0 || states.includes(state))
    .filter((it) => after === undefined || compareAppointments(it, after) > 0)
    .sort(compareAppointments)
    .slice(0, limit);
}

/** From when on slots can be in the page that a query asks for. */
export function firstSlotStart({ start, after }: TimeSlotQuery, now: Date): Date {
  return new Date(Math.max(start.getTime(), now.getTime(), after?.start.getTime() ?? 0));
}

/**
 * A page of free slots, which are read only as far as it needs.
 *
 * @param batches each starts no earlier than the ones before it
 * @param also slots of any time
 */
export async function pageOfTimeSlots(
  batches: AsyncIterable<readonly TimeSlot[]>,
  query: TimeSlotQuery,
  now: Date,
  also: readonly TimeSlot[] = [],
): Promise<TimeSlot[]> {
  const found: TimeSlot[] = [];
  for await (const batch of batches) {
    found.push(...batch);
    if (timeSlotsFor(found, query, now).length >= query.limit) break;
  }
  return timeSlotsFor([...found, ...also], query, now);
}

/** Of the free slots, those that a query asks for, in order, each once. */
export function timeSlotsFor(slots: readonly TimeSlot[], query: TimeSlotQuery, now: Date): TimeSlot[] {
  const { start, end, resourceIds, healthcareServiceIds, after, limit } = query;
  return slots
    .filter((it) => it.start >= start && it.start > now && it.end <= end)
    .filter((it) => resourceIds?.includes(it.resourceId) ?? true)
    .filter((it) => healthcareServiceIds?.includes(it.healthcareServiceId) ?? true)
    .filter((it) => after === undefined || compareTimeSlots(it, after) > 0)
    .sort(compareTimeSlots)
    .filter((it, index, all) => index === 0 || compareTimeSlots(all[index - 1] as TimeSlot, it) !== 0)
    .slice(0, limit);
}
