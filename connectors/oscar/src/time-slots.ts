import { overlaps, type TimeSlot, type TimeSlotQuery } from '@crossward/connector-kit';
import { datesIn, firstSlotStart, instantIn, pageOfTimeSlots, readEach } from '@crossward/connector-kit/rest';
import { childrenOf, type XmlElement } from '@crossward/connector-kit/soap';
import { type Row, readBlock, readRow, rowsOf, standingOf } from './appointments.ts';
import type { At } from './ehr.ts';
import { characterIn, fieldsOf, recordIn, slotSchema } from './records.ts';
import { instantAt, isWritable, nextDate, startOf } from './times.ts';

/** Days that are read together. A caller who wants a few slots of a long range costs a few requests. */
const daysAtOnce = 7;

/** A part of a provider's day that can be booked, whether it is free or not. */
export interface Part {
  readonly start: Date;
  readonly end: Date;
  readonly resourceId: string;
  readonly places: number;
  readonly healthcareServiceIds: readonly string[];
}

export async function listTimeSlots(at: At, query: TimeSlotQuery): Promise<readonly TimeSlot[]> {
  const now = at.now();
  return pageOfTimeSlots(slotsByWeek(at, query, firstSlotStart(query, now)), query, now);
}

async function* slotsByWeek(at: At, { end, resourceIds, freeing = [] }: TimeSlotQuery, start: Date) {
  const { resources } = await at.lists.get();
  const wanted = resources.map(({ id }) => id).filter((id) => resourceIds?.includes(id) ?? true);
  const days = datesIn(at.careUnit.timeZone, { start, end });
  for (let first = 0; first < days.length; first += daysAtOnce) {
    const some = days.slice(first, first + daysAtOnce);
    const free = await readEach(wanted, (resource) => freePartsOf(at, resource, some, freeing));
    yield free.flat().flatMap(slotsOf);
  }
}

function slotsOf({ start, end, resourceId, healthcareServiceIds }: Part): TimeSlot[] {
  return healthcareServiceIds.map((healthcareServiceId) => ({ start, end, resourceId, healthcareServiceId }));
}

/** Parts with room for one more, on consecutive dates. @param freeing ids of appointments that do not count */
export async function freePartsOf(
  at: At,
  resource: string,
  days: readonly string[],
  freeing: readonly string[],
): Promise<readonly Part[]> {
  const parts = (await readEach(days, (day) => partsOf(at, resource, day))).flat();
  if (parts.length === 0) return [];
  const rows = await takenTimes(at, resource, days);
  const others = rows.filter(({ id }) => !freeing.includes(id));
  return parts.filter((part) => hasRoom(part, others));
}

export function hasRoom(part: Part, others: readonly Row[]): boolean {
  return others.filter((it) => overlaps(it, part)).length < part.places;
}

/** Appointments that take their time, and blocks without a patient, on consecutive dates. */
export async function takenTimes(at: At, resource: string, days: readonly string[]): Promise<readonly Row[]> {
  const [first = '', last = first] = [days[0], days.at(-1)];
  const read = (element: XmlElement) => readRow(at, element) ?? readBlock(element);
  const rows = await rowsOf(at, resource, [first, nextDate(last)], read);
  return rows.filter((it) => standingOf(it).state !== 'cancelled');
}

/** Parts of a day whose code can be booked. A holiday has parts, too, and is closed. */
export async function partsOf(at: At, resource: string, day: string): Promise<readonly Part[]> {
  const midnight = startOf(at.careUnit.timeZone, day);
  const [schedule] = await at.client.ask('Schedule.getDayWorkSchedule', resource, midnight);
  const { holiday, timeSlotDurationMin } = schedule ? fieldsOf(schedule) : {};
  const minutes = Number(timeSlotDurationMin);
  if (!schedule || holiday === 'true' || !isWritable(minutes)) return [];
  const { codes } = await at.lists.get();
  return childrenOf(schedule, '', 'timeSlots').flatMap((element): Part[] => {
    const record = recordIn('timeSlot', slotSchema, fieldsOf(element), at.leftOut);
    const code = record && codes.get(characterIn(record.scheduleCode));
    const date = instantIn(record?.date);
    // The server adds elapsed minutes to midnight. The day sheet, which counts, has minutes of the clock.
    const start = date && instantAt(at.careUnit.timeZone, day, (date.getTime() - midnight.getTime()) / 60_000);
    if (!code || !start) return [];
    return [{ start, end: new Date(start.getTime() + minutes * 60_000), resourceId: resource, ...code }];
  });
}
