import {
  type Appointment,
  type AppointmentQuery,
  ConnectorError,
  type Resource,
  tidyName,
} from '@crossward/connector-kit';
import {
  appointmentsFor,
  countedRecord,
  dateIn,
  instantIn,
  readEach,
  type Standings,
  standingIn,
} from '@crossward/connector-kit/rest';
import { type At, nameOf, resourceTypes, serviceOf, typeOf } from './ehr.ts';
import { bookingSchema, type CareBooking } from './records.ts';
import { undefinedIfAbsent } from './refusals.ts';
import { isId } from './settings.ts';

const day = 24 * 60 * 60 * 1000;
/** So that addresses do not become too long. */
const resourcesPerCall = 50;

const standings: Standings = {
  booked: ['booked', null],
  arrived: ['booked', 'arrived'],
  checked_in: ['booked', 'arrived'],
  in_consultation: ['booked', 'arrived'],
  fulfilled: ['booked', 'completed'],
  noshow: ['cancelled', 'no_show'],
  cancelled: ['cancelled', null],
  entered_in_error: ['cancelled', null],
  rescheduled: ['cancelled', null],
};
/** Proposed, on a waiting list, and whatever later versions bring. */
const pending = { state: 'pending', hasStarted: false, attendance: null } as const;

/** Whether CARE counts the booking against the places of its slot. A no-show keeps its place. */
export function takesPlace({ status }: CareBooking): boolean {
  return !['cancelled', 'entered_in_error', 'rescheduled'].includes(status);
}

export function timeOf({ token_slot: slot }: CareBooking): { readonly start: Date; readonly end: Date | null } {
  return { start: instantIn(slot.start_datetime) as Date, end: instantIn(slot.end_datetime) ?? null };
}

export function toAppointment({ careUnit, unit }: At, booking: CareBooking): Appointment {
  const { id, status, note, patient, resource, token_slot: slot } = booking;
  return {
    id,
    ...(standingIn(standings, status) ?? pending),
    heldUntil: null,
    ...timeOf(booking),
    comment: note || null,
    patientId: patient.id,
    resourceId: resource?.id ?? null,
    resourceName: (resource && nameOf(resource)) ?? null,
    healthcareServiceId: serviceOf(unit, tidyName(slot.availability?.name)) ?? null,
    careUnitId: careUnit.id,
  };
}

/** `undefined`: it cannot be read, and was counted. */
export function readBooking(at: At, value: unknown): CareBooking | undefined {
  return countedRecord(at, 'booking', bookingSchema, value);
}

export function bookingPath({ unit }: At, id = ''): string {
  return `facility/${unit.facility}/appointments/${id && `${id}/`}`;
}

/** `undefined`: there is none. @throws ConnectorError `rejected` if it cannot be read: nobody may take it for one that is gone */
export async function findBooking(at: At, id: string): Promise<CareBooking | undefined> {
  const found = isId(id) ? await at.client.get(bookingPath(at, id)).catch(undefinedIfAbsent) : undefined;
  return found === undefined ? undefined : asBooking(at, found, id);
}

/** @throws ConnectorError `rejected` if an answer is not the booking that it should be */
export function asBooking(at: At, value: unknown, id?: string): CareBooking {
  const booking = readBooking(at, value);
  if (booking && (id === undefined || booking.id === id)) return booking;
  throw new ConnectorError('rejected', 'The EHR sent a booking that cannot be read');
}

export function findAppointments(at: At, ids: readonly string[]): Promise<Appointment[]> {
  return readEach(ids, async (id) => {
    const found = await findBooking(at, id);
    return found && toAppointment(at, found);
  });
}

/** The resources of a care unit, as often as CARE needs to be asked for their bookings. */
export function callsFor(resources: readonly Resource[]): { resource_type: string; resource_ids: string }[] {
  return resourceTypes.flatMap((resource_type) => {
    const ids = resources.filter((it) => typeOf(it) === resource_type).map(({ id }) => id);
    const groups = Map.groupBy(ids, (id) => Math.floor(ids.indexOf(id) / resourcesPerCall));
    return [...groups.values()].map((group) => ({ resource_type, resource_ids: group.join(',') }));
  });
}

/** One list for a patient, whom CARE shows newest first; else one for each call, in the order of their starts. */
export async function listAppointments(at: At, query: AppointmentQuery): Promise<readonly Appointment[]> {
  const { patientId, resourceId, limit } = query;
  if (patientId !== undefined) {
    if (!isId(patientId)) return [];
    const facility = { facility: at.unit.facility };
    return appointmentsFor(await read(`patient/${patientId}/get_appointments/`, facility), query);
  }
  const resources = (await at.lists.get()).resources.filter(({ id }) => id === (resourceId ?? id));
  const calls = callsFor(resources).map((call) => ({ ...call, ordering: 'token_slot__start_datetime' }));
  const found = await Promise.all(calls.map((call) => read(bookingPath(at), call, hasPage)));
  return appointmentsFor(found.flat(), query);

  async function read(path: string, parameters: Record<string, string>, isEnough = (_: Appointment[]) => false) {
    const own = new Map<string, Appointment>();
    for await (const page of at.client.pages(path, { ...parameters, ...datesOf(query) })) {
      for (const it of page.flatMap((one) => readBooking(at, one) ?? [])) own.set(it.id, toAppointment(at, it));
      if (isEnough([...own.values()])) break;
    }
    return [...own.values()];
  }

  /** Those with the same start can come in any order, so the last ones wait for the next page. */
  function hasPage(own: Appointment[]): boolean {
    const last = own.at(-1)?.start;
    const complete = own.filter(({ start }) => last && start < last);
    return appointmentsFor(complete, query).length >= limit;
  }
}

/** CARE compares the local date of the start. One that began on the day before can reach into the range. */
function datesOf({ careUnit: { timeZone }, range, after }: AppointmentQuery): Record<string, string> {
  if (!range) return after ? { date_after: dateIn(timeZone, after.start) } : {};
  const dayBefore = new Date(range.start.getTime() - day);
  return { date_after: dateIn(timeZone, dayBefore), date_before: dateIn(timeZone, range.end) };
}
