import { randomUUID } from 'node:crypto';
import { type Facility, facilities, timeZone } from './data-set.ts';

/** A time in the calendar. Times are local, without an offset: more the contracts cannot say. */
export interface Slot {
  readonly facility: Facility;
  /** Absent for a room. */
  readonly performer?: Facility['performers'][number] | undefined;
  readonly resource: { readonly id: string; readonly name: string };
  readonly start: string;
  readonly end: string;
  /** The time type of a slot can be chosen among these when it is booked. */
  readonly timeTypes: Facility['timeTypes'];
}

export interface Booking {
  readonly id: string;
  slot: Slot;
  readonly subject: string;
  readonly timeType: Facility['timeTypes'][number] | undefined;
  reason: string | undefined;
  allowsCancel: boolean;
  allowsRebook: boolean;
  allowsMessage: boolean;
}

/** The calendar behind the contracts. */
export interface Calendar {
  readonly slots: Slot[];
  readonly bookings: Map<string, Booking>;
  /** Messages of those who cancelled. */
  readonly messages: string[];
  isTaken(slot: Slot, except?: Booking): boolean;
  book(slot: Slot, subject: string, timeType: Booking['timeType'], reason: string | undefined): Booking;
}

/** @param days how many days have slots, from tomorrow */
export function calendarOf(days: number): Calendar {
  const slots = facilities.flatMap((facility) => regularSlots(facility, days));
  const bookings = new Map<string, Booking>();
  return {
    slots,
    bookings,
    messages: [],
    isTaken: (slot, except) =>
      [...bookings.values()].some(
        (it) => it !== except && it.slot.resource.id === slot.resource.id && overlap(it.slot, slot),
      ),
    book(slot, subject, timeType, reason) {
      const flags = { allowsCancel: true, allowsRebook: true, allowsMessage: true };
      const booking = { id: randomUUID(), slot, subject, timeType, reason, ...flags };
      bookings.set(booking.id, booking);
      return booking;
    },
  };
}

/** By the clock on the wall. Both are in the same form, so they compare as texts. */
function overlap(a: Slot, b: Slot): boolean {
  return a.start === b.start || (a.start < b.end && b.start < a.end);
}

const halfHours = ['0800', '0830', '0900', '0930', '1000', '1030', '1100', '1130', '1200'];

function regularSlots(facility: Facility, days: number): Slot[] {
  const who = facility.performers.map((performer) => ({
    performer,
    resource: { id: `schema-${performer.id}`, name: `${performer.firstName} ${performer.lastName}` },
    timeTypes: facility.timeTypes,
  }));
  const room = { performer: undefined, resource: { id: `rum-${facility.hsaId}`, name: 'Rum 1' }, timeTypes: [] };
  return Array.from({ length: days }, (_, index) => localDate(index + 1)).flatMap((date) =>
    [...who, room].flatMap((it) =>
      halfHours
        .slice(1)
        .map((end, at) => ({ ...it, facility, start: `${date}${halfHours[at]}00`, end: `${date}${end}00` })),
    ),
  );
}

function localDate(daysFromNow: number): string {
  return localNow(new Date(Date.now() + daysFromNow * 86_400_000)).slice(0, 8);
}

/** `yyyyMMddHHmmss` on the wall. */
export function localNow(instant = new Date()): string {
  const format = new Intl.DateTimeFormat('sv-SE', {
    timeZone,
    dateStyle: 'short',
    timeStyle: 'medium',
    hourCycle: 'h23',
  });
  return format.format(instant).replaceAll(/\D/g, '');
}
