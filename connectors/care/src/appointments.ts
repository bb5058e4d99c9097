import type {
  Appointment,
  AppointmentQuery,
  AppointmentState,
  Attendance,
  CareUnit,
  Resource,
} from '@crossward/connector-kit';
import { ConnectorError, tidyName } from '@crossward/connector-kit';
import { appointmentsFor, dateIn, instantIn } from '@crossward/connector-kit/rest';
import { nameOf, resourceTypes, serviceOf, typeOf } from './directory.ts';
import type { Ehr } from './ehr.ts';
import { bookingSchema, type CareBooking, readRecord } from './records.ts';
import { isAbsence } from './refusals.ts';
import { isId } from './settings.ts';

const day = 24 * 60 * 60 * 1000;
/** So that addresses do not become too long. */
const resourcesPerCall = 50;
/** CARE has no call for several ids. */
const readAtOnce = 4;

interface Standing {
  readonly state: AppointmentState;
  readonly attendance: Attendance | null;
}

const standings: Readonly<Record<string, Standing>> = {
  booked: { state: 'booked', attendance: null },
  arrived: { state: 'booked', attendance: 'arrived' },
  checked_in: { state: 'booked', attendance: 'arrived' },
  in_consultation: { state: 'booked', attendance: 'arrived' },
  fulfilled: { state: 'booked', attendance: 'completed' },
  noshow: { state: 'cancelled', attendance: 'no_show' },
  cancelled: { state: 'cancelled', attendance: null },
  entered_in_error: { state: 'cancelled', attendance: null },
  rescheduled: { state: 'cancelled', attendance: null },
};
/** Proposed, on a waiting list, and whatever later versions bring. */
const pending: Standing = { state: 'pending', attendance: null };

/** Whether CARE counts the booking against the places of its slot. A no-show keeps its place. */
export function takesPlace({ status }: CareBooking): boolean {
  return !['cancelled', 'entered_in_error', 'rescheduled'].includes(status);
}

export function toAppointment(ehr: Ehr, careUnit: CareUnit, booking: CareBooking): Appointment {
  const { id, status, note, patient, resource, token_slot: slot } = booking;
  const { state, attendance } = standings[status] ?? pending;
  return {
    id,
    state,
    heldUntil: null,
    hasStarted: attendance === 'arrived' || attendance === 'completed',
    start: instantIn(slot.start_datetime) as Date,
    end: instantIn(slot.end_datetime) ?? null,
    comment: note || null,
    patientId: patient.id,
    resourceId: resource?.id ?? null,
    resourceName: (resource && nameOf(resource)) ?? null,
    healthcareServiceId: serviceOf(ehr.unitOf(careUnit), tidyName(slot.availability?.name)) ?? null,
    careUnitId: careUnit.id,
    attendance,
  };
}

/** `undefined`: it cannot be read, and was counted. */
export function readBooking({ leftOut }: Ehr, value: unknown): CareBooking | undefined {
  return readRecord('booking', bookingSchema, value, leftOut);
}

export function bookingPath({ unitOf }: Ehr, careUnit: CareUnit, id = ''): string {
  return `facility/${unitOf(careUnit).facility}/appointments/${id && `${id}/`}`;
}

/** `undefined`: there is none. @throws ConnectorError `rejected` if it cannot be read: nobody may take it for one that is gone */
export async function findBooking(ehr: Ehr, careUnit: CareUnit, id: string): Promise<CareBooking | undefined> {
  if (!isId(id)) return undefined;
  try {
    return asBooking(ehr, await ehr.client.get(bookingPath(ehr, careUnit, id)), id);
  } catch (error) {
    if (isAbsence(error)) return undefined;
    throw error;
  }
}

/** @throws ConnectorError `rejected` if an answer is not the booking that it should be */
export function asBooking(ehr: Ehr, value: unknown, id?: string): CareBooking {
  const booking = readBooking(ehr, value);
  if (booking && (id === undefined || booking.id === id)) return booking;
  throw new ConnectorError('rejected', 'The EHR sent a booking that cannot be read');
}

export async function findAppointments(ehr: Ehr, careUnit: CareUnit, ids: readonly string[]): Promise<Appointment[]> {
  const found: Appointment[] = [];
  const left = [...new Set(ids)];
  while (left.length > 0) {
    const read = await Promise.all(left.splice(0, readAtOnce).map((id) => findBooking(ehr, careUnit, id)));
    found.push(...read.flatMap((it) => (it ? [toAppointment(ehr, careUnit, it)] : [])));
  }
  return found;
}

/** The resources of a care unit, as often as CARE needs to be asked for their bookings. */
export function callsFor(resources: readonly Resource[]): { resource_type: string; resource_ids: string }[] {
  return resourceTypes.flatMap((resource_type) => {
    const ids = resources.filter((it) => typeOf(it) === resource_type).map(({ id }) => id);
    const groups = Array.from({ length: Math.ceil(ids.length / resourcesPerCall) }, (_, index) =>
      ids.slice(index * resourcesPerCall, (index + 1) * resourcesPerCall),
    );
    return groups.map((group) => ({ resource_type, resource_ids: group.join(',') }));
  });
}

/** One list for a patient, whom CARE shows newest first; else one for each call, in the order of their starts. */
export async function listAppointments(ehr: Ehr, query: AppointmentQuery): Promise<readonly Appointment[]> {
  const { careUnit, patientId, resourceId, range, after, limit } = query;
  if (patientId !== undefined && !isId(patientId)) return [];
  const { resources } = await ehr.lists.of(careUnit);
  const calls =
    patientId === undefined
      ? callsFor(resources.filter(({ id }) => resourceId === undefined || id === resourceId)).map((call) => ({
          path: bookingPath(ehr, careUnit),
          parameters: { ...call, ordering: 'token_slot__start_datetime' },
        }))
      : [
          {
            path: `patient/${patientId}/get_appointments/`,
            parameters: { facility: ehr.unitOf(careUnit).facility },
          },
        ];
  const dates = {
    ...datesOf(query),
    ...(after && !range ? { date_after: dateIn(careUnit.timeZone, after.start) } : {}),
  };
  const found: Appointment[] = [];
  for (const { path, parameters } of calls) {
    const own: Appointment[] = [];
    for await (const page of ehr.client.pages(path, { ...parameters, ...dates })) {
      own.push(...page.flatMap((it) => readBooking(ehr, it) ?? []).map((it) => toAppointment(ehr, careUnit, it)));
      const last = own.at(-1)?.start;
      // Those with the same start can come in any order, so the last ones wait for the next page.
      const isEnough = last && patientId === undefined;
      if (
        isEnough &&
        appointmentsFor(
          own.filter(({ start }) => start < last),
          query,
        ).length >= limit
      )
        break;
    }
    found.push(...own);
  }
  return appointmentsFor([...new Map(found.map((it) => [it.id, it])).values()], query);
}

/** CARE compares the local date of the start. One that began on the day before can reach into the range. */
function datesOf({ careUnit: { timeZone }, range }: AppointmentQuery): Record<string, string> {
  if (!range) return {};
  return {
    date_after: dateIn(timeZone, new Date(range.start.getTime() - day)),
    date_before: dateIn(timeZone, range.end),
  };
}
