import { type CareUnit, overlaps, type Resource, type TimeSlot, type TimeSlotQuery } from '@crossward/connector-kit';
import {
  compareText,
  countedRecord,
  datesIn,
  firstSlotStart,
  instantIn,
  noAnswer,
  pageOfTimeSlots,
} from '@crossward/connector-kit/rest';
import { bookingPath, callsFor, readBooking, takesPlace } from './appointments.ts';
import { serviceOf, typeOf } from './directory.ts';
import type { Ehr } from './ehr.ts';
import { type CareBooking, slotSchema } from './records.ts';

/** CARE counts the slots of up to 32 days in one call. */
const countedDays = 32;

/** A slot that can be booked. */
export interface FreeSlot extends TimeSlot {
  readonly id: string;
}

/** Day by day, so that a caller who wants a few slots of a long range costs a few requests. */
export async function listTimeSlots(ehr: Ehr, query: TimeSlotQuery): Promise<readonly TimeSlot[]> {
  const now = ehr.now();
  const found = await pageOfTimeSlots(slotsByDay(ehr, query, firstSlotStart(query, now)), query, now);
  return found.map(({ start, end, resourceId, healthcareServiceId }) => ({
    ...{ start, end, resourceId, healthcareServiceId },
  }));
}

async function* slotsByDay(ehr: Ehr, { careUnit, end, resourceIds, freeing = [] }: TimeSlotQuery, start: Date) {
  const { resources } = await ehr.lists.of(careUnit);
  const wanted = resources.filter(({ id }) => resourceIds?.includes(id) ?? true);
  const days = datesIn(careUnit.timeZone, { start, end });
  for (let first = 0; first < days.length; first += countedDays) {
    const open = await openDays(ehr, careUnit, wanted, days.slice(first, first + countedDays));
    for (const [day, those] of open) yield freeSlotsOf(ehr, careUnit, those, day, freeing);
  }
}

/** The days on which some of the resources have slots, in order. */
async function openDays(ehr: Ehr, careUnit: CareUnit, resources: readonly Resource[], days: readonly string[]) {
  const path = `facility/${ehr.unitOf(careUnit).facility}/slots/availability_stats/`;
  const range = { from_date: days[0], to_date: days.at(-1) };
  const counts = await Promise.all(
    resources.map((it) => ehr.client.ask(path, { ...range, resource_type: typeOf(it), resource_id: it.id })),
  );
  return days.flatMap((day): [string, Resource[]][] => {
    const those = resources.filter((_, index) => totalOf(counts[index], day) > 0);
    return those.length > 0 ? [[day, those]] : [];
  });
}

function totalOf(counts: unknown, day: string): number {
  if (typeof counts !== 'object' || counts === null) throw noAnswer();
  const count: unknown = Reflect.get(counts, day);
  return typeof count === 'object' && count !== null ? Number(Reflect.get(count, 'total_slots')) : 0;
}

/** Free slots of a day. Its first look makes the slots in CARE, each one again for every look at the same time. */
export async function freeSlotsOf(
  ehr: Ehr,
  careUnit: CareUnit,
  resources: readonly Resource[],
  day: string,
  freeing: readonly string[],
): Promise<readonly FreeSlot[]> {
  const [bookings, ...slots] = await Promise.all([
    bookingsOf(ehr, careUnit, resources, day),
    ...resources.map((it) => slotsOf(ehr, careUnit, it, day)),
  ]);
  return slots.flat().flatMap(({ slot, resource, start, end }): FreeSlot[] => {
    const { name, tokens_per_slot: places } = slot.availability;
    const service = serviceOf(ehr.unitOf(careUnit), name);
    const there = bookings.filter((it) => it.resource?.id === resource.id && overlaps(timeOf(it), { start, end }));
    const leaving = there.filter(({ id }) => freeing.includes(id)).length;
    // CARE's own count can be wrong for good, in both directions.
    const isFree = slot.allocated - leaving < places && there.length - leaving < places;
    if (!isFree || service === undefined) return [];
    return [{ id: slot.id, start, end, resourceId: resource.id, healthcareServiceId: service }];
  });
}

export function timeOf({ token_slot: slot }: CareBooking): { readonly start: Date; readonly end: Date | null } {
  return { start: instantIn(slot.start_datetime) as Date, end: instantIn(slot.end_datetime) ?? null };
}

/** Bookings of a day that take a place. */
export async function bookingsOf(
  ehr: Ehr,
  careUnit: CareUnit,
  resources: readonly Resource[],
  day: string,
): Promise<readonly CareBooking[]> {
  const found: CareBooking[] = [];
  for (const call of callsFor(resources)) {
    const query = { ...call, date_after: day, date_before: day, ordering: 'token_slot__start_datetime' };
    for await (const page of ehr.client.pages(bookingPath(ehr, careUnit), query)) {
      found.push(...page.flatMap((it) => readBooking(ehr, it) ?? []));
    }
  }
  return found.filter(takesPlace);
}

/** Of slots that CARE has made several times, the one with the most room, then the first by id. */
async function slotsOf(ehr: Ehr, careUnit: CareUnit, resource: Resource, day: string) {
  const path = `facility/${ehr.unitOf(careUnit).facility}/slots/get_slots_for_day/`;
  const answer = await ehr.client.ask(path, { day, resource_type: typeOf(resource), resource_id: resource.id });
  const list: unknown = Array.isArray(answer) ? answer : Reflect.get(Object(answer), 'results');
  if (!Array.isArray(list)) throw noAnswer();
  const slots = list.flatMap((it) => countedRecord(ehr, 'slot', slotSchema, it) ?? []);
  const inOrder = slots.sort((a, b) => b.allocated - a.allocated || compareText(b.id, a.id));
  const once = new Map(inOrder.map((it) => [[it.availability.name, it.start_datetime, it.end_datetime].join(' '), it]));
  return [...once.values()].map((slot) => ({
    slot,
    resource,
    start: instantIn(slot.start_datetime) as Date,
    end: instantIn(slot.end_datetime) as Date,
  }));
}
