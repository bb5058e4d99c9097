/**
 * Model of a care unit: the states and transitions of the contract, implemented a second time as simply as possible, to
 * compare the gateway with. It shares no code with the gateway.
 *
 * Ids and codes have short names in the model (`a1`, `code2`). `Real` maps them to those of the gateway.
 */

export interface Policy {
  /** Whether a booking requires a code. */
  readonly bookingCode: boolean;
  /** Whether a cancellation requires a code. */
  readonly cancellationCode: boolean;
  readonly attempts: number;
}

/** Starts of the slots, in half-hours after 10:30. No slots during lunch, from 12:00 to 13:00. */
export const slots: readonly number[] = [0, 1, 2, 5, 6, 7];
export const dayEnd = 8;

export const offers = {
  first: ['consultation', 'vaccination'],
  second: ['consultation', 'vaccination'],
  room: ['vaccination'],
} as const;
export const services = ['consultation', 'vaccination'] as const;
export const resources = ['first', 'second', 'room'] as const;
/** The first two have a phone number, the third only e-mail, the last neither. */
export const patients = ['p-3', 'p-4', 'p-19', 'p-20'] as const;

export type Service = (typeof services)[number];
export type Resource = (typeof resources)[number];
export type Patient = (typeof patients)[number];

export interface Time {
  readonly from: number;
  readonly to: number;
}

export interface Place extends Time {
  readonly resource: Resource;
  readonly service: Service;
}

/** A confirmation: one code for one or several ids. */
export interface Code {
  readonly name: string;
  readonly kind: 'booking' | 'cancellation';
  readonly patient: Patient;
  /** Appointment ids, in the order of the response that created them. */
  readonly ids: string[];
  attempts: number;
  sent: number;
  /** Whether the code is less than thirty seconds old. */
  isFresh: boolean;
}

type Waiting = 'pending' | 'confirmed' | 'released' | 'expired';

export interface Booking {
  readonly kind: 'booking';
  readonly id: string;
  readonly patient: Patient;
  readonly service: Service;
  resource: Resource;
  from: number;
  to: number;
  comment: string | null;
  state: 'held' | 'booked' | 'cancelled';
  /** The code that confirms the booking, if it required one. */
  code: Code | undefined;
  waiting: Waiting | undefined;
}

/** A pending two-step cancellation, with its own id. */
export interface View {
  readonly kind: 'view';
  readonly id: string;
  readonly of: Booking;
  readonly code: Code;
  waiting: Waiting;
  /** The comment of the cancellation. `undefined`: the appointment keeps its comment. */
  readonly comment: string | null | undefined;
}

export type Entry = Booking | View;

export interface Model {
  readonly policy: Policy;
  readonly entries: Map<string, Entry>;
  names: number;
}

export function newModel(policy: Policy): Model {
  return { policy, entries: new Map(), names: 0 };
}

export function entriesOf(model: Model): Entry[] {
  return [...model.entries.values()];
}

export function bookingsOf(model: Model): Booking[] {
  return entriesOf(model).filter((entry) => entry.kind === 'booking');
}

/** The appointment itself, also for a pending cancellation. */
export function original(entry: Entry): Booking {
  return entry.kind === 'view' ? entry.of : entry;
}

export function statusOf(entry: Entry): 'awaiting_confirmation' | 'booked' | 'cancelled' {
  if (entry.kind === 'view' && entry.waiting === 'pending') return 'awaiting_confirmation';
  const { state } = original(entry);
  return state === 'held' ? 'awaiting_confirmation' : state;
}

/** The pending two-step cancellation of this appointment. */
export function pendingView(model: Model, booking: Booking): View | undefined {
  return entriesOf(model).find(
    (entry): entry is View => entry.kind === 'view' && entry.of === booking && entry.waiting === 'pending',
  );
}

export function overlap(a: Time, b: Time): boolean {
  return a.from < b.to && b.from < a.to;
}

/** Whether slots of the service cover the time without a gap, and no appointment except those in `freeing` overlaps it. */
export function isFree(model: Model, place: Place, freeing: readonly string[] = []): boolean {
  const { resource, service, from, to } = place;
  if (!Number.isInteger(from) || !Number.isInteger(to)) return false;
  if (!(offers[resource] as readonly Service[]).includes(service)) return false;
  for (let slot = from; slot < to; slot++) if (!slots.includes(slot)) return false;
  return !bookingsOf(model).some(
    (other) =>
      other.state !== 'cancelled' &&
      other.resource === resource &&
      overlap(other, place) &&
      !freeing.includes(other.id),
  );
}

/** The channel for a code. Cancellation codes are sent only by SMS. */
export function channelTo(patient: Patient, kind: Code['kind']): 'sms' | 'email' | undefined {
  if (patient === 'p-20') return undefined;
  if (patient === 'p-19') return kind === 'booking' ? 'email' : undefined;
  return 'sms';
}

export function addCode(model: Model, kind: Code['kind'], patient: Patient): Code {
  const { attempts } = model.policy;
  return { name: newName(model, 'code'), kind, patient, ids: [], attempts, sent: 1, isFresh: true };
}

/** Books the appointment, or holds its time if there is a code. */
export function addBooking(
  model: Model,
  wanted: Place & Pick<Booking, 'patient' | 'comment'>,
  code: Code | undefined,
): Booking {
  const booking: Booking = {
    ...wanted,
    kind: 'booking',
    id: newName(model, 'a'),
    state: code ? 'held' : 'booked',
    code,
    waiting: code && 'pending',
  };
  code?.ids.push(booking.id);
  model.entries.set(booking.id, booking);
  return booking;
}

export function addView(model: Model, of: Booking, code: Code, comment: View['comment']): View {
  const view: View = { kind: 'view', id: newName(model, 'v'), of, code, waiting: 'pending', comment };
  code.ids.push(view.id);
  model.entries.set(view.id, view);
  return view;
}

function newName(model: Model, prefix: string): string {
  model.names += 1;
  return `${prefix}${model.names}`;
}
