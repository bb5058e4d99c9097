import { overlaps, type Resource, type TimeSlot, type TimeSlotQuery } from '@crossward/connector-kit';
import {
  compareText,
  countedRecord,
  datesIn,
  firstSlotStart,
  instantIn,
  noAnswer,
  pageOfTimeSlots,
} from '@crossward/connector-kit/rest';
import { bookingPath, callsFor, readBooking, takesPlace, timeOf } from './appointments.ts';
import { type At, serviceOf, typeOf } from './ehr.ts';
import { type CareBooking, slotSchema } from './records.ts';

/** CARE counts the slots of up to 32 days in one call. */
const countedDays = 32;

/** A slot that can be booked. */
export interface FreeSlot extends TimeSlot {
  readonly id: string;
}

/** Day by day, so that a caller who wants a few slots of a long range costs a few requests. */
export async function listTimeSlots(at: At, query: TimeSlotQuery): Promise<readonly TimeSlot[]> {
  const now = at.now();
  const found = await pageOfTimeSlots(slotsByDay(at, query, firstSlotStart(query, now)), query, now);
  return found.map(({ start, end, resourceId, healthcareServiceId }) => ({
    ...{ start, end, resourceId, healthcareServiceId },
  }));
}

async function* slotsByDay(at: At, { end, resourceIds, freeing = [] }: TimeSlotQuery, start: Date) {
  const { resources } = await at.lists.get();
  const wanted = resources.filter(({ id }) => resourceIds?.includes(id) ?? true);
  const days = datesIn(at.careUnit.timeZone, { start, end });
  for (let first = 0; first < days.length; first += countedDays) {
    const open = await openDays(at, wanted, days.slice(first, first + countedDays));
    for (const [day, those] of open) yield freeSlotsOf(at, those, day, freeing);
  }
}

/** The days on which some of the resources have slots, in order. */
async function openDays(at: At, resources: readonly Resource[], days: readonly string[]) {
  const range = { from_date: days[0], to_date: days.at(-1) };
  const counts = await Promise.all(resources.map((it) => askSlots(at, 'availability_stats', it, range)));
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

function askSlots({ client, unit }: At, question: string, resource: Resource, about: object): Promise<unknown> {
  const body = { ...about, resource_type: typeOf(resource), resource_id: resource.id };
  return client.ask(`facility/${unit.facility}/slots/${question}/`, body);
}

/** Free slots of a day. Its first look makes the slots in CARE, each one again for every look at the same time. */
export async function freeSlotsOf(
  at: At,
  resources: readonly Resource[],
  day: string,
  freeing: readonly string[],
): Promise<readonly FreeSlot[]> {
  const [bookings, ...slots] = await Promise.all([
    bookingsOf(at, resources, day),
    ...resources.map((it) => slotsOf(at, it, day)),
  ]);
  return slots.flat().flatMap(({ slot, resourceId, start, end }): FreeSlot[] => {
    const { name, tokens_per_slot: places } = slot.availability;
    const healthcareServiceId = serviceOf(at.unit, name);
    const there = bookings.filter((it) => it.resource?.id === resourceId && overlaps(timeOf(it), { start, end }));
    const leaving = there.filter(({ id }) => freeing.includes(id)).length;
    // CARE's own count can be wrong for good, in both directions.
    const isFree = slot.allocated - leaving < places && there.length - leaving < places;
    if (!isFree || healthcareServiceId === undefined) return [];
    return [{ id: slot.id, start, end, resourceId, healthcareServiceId }];
  });
}

/** Bookings of a day that take a place. */
export async function bookingsOf(at: At, resources: readonly Resource[], day: string): Promise<readonly CareBooking[]> {
  const found: CareBooking[] = [];
  for (const call of callsFor(resources)) {
    const query = { ...call, date_after: day, date_before: day, ordering: 'token_slot__start_datetime' };
    for await (const page of at.client.pages(bookingPath(at), query)) {
      found.push(...page.flatMap((it) => readBooking(at, it) ?? []));
    }
  }
  return found.filter(takesPlace);
}

/** Of slots that CARE has made several times, the one with the most room, then the first by id. */
async function slotsOf(at: At, resource: Resource, day: string) {
  const answer = await askSlots(at, 'get_slots_for_day', resource, { day });
  const list: unknown = Array.isArray(answer) ? answer : Reflect.get(Object(answer), 'results');
  if (!Array.isArray(list)) throw noAnswer();
  const slots = list.flatMap((it) => countedRecord(at, 'slot', slotSchema, it) ?? []);
  const inOrder = slots.sort((a, b) => b.allocated - a.allocated || compareText(b.id, a.id));
  const once = new Map(inOrder.map((it) => [[it.availability.name, it.start_datetime, it.end_datetime].join(' '), it]));
  return [...once.values()].map((slot) => {
    const [start, end] = [instantIn(slot.start_datetime) as Date, instantIn(slot.end_datetime) as Date];
    return { slot, resourceId: resource.id, start, end };
  });
}
