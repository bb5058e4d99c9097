import { type Appointment, type AppointmentQuery, ConnectorError } from '@crossward/connector-kit';
import { appointmentsFor } from '@crossward/connector-kit/rest';
import { childrenOf } from '@crossward/connector-kit/soap';
import { type At, askUnit } from './ehr.ts';
import { appointmentIdOf, bookingKeyOf, isSameSubject, patientIdOf, subjectOf } from './ids.ts';
import { bookedPeriod } from './local-time.ts';
import { messageNamespace } from './producer.ts';
import { bookingIdIn, readTimeslot, resourceIdOf, serviceIdOf, type Timeslot, untypedService } from './timeslot.ts';

const namespace = messageNamespace('GetSubjectOfCareSchedule');

/** A booking whose start is known. */
export interface Booking extends Timeslot {
  readonly start: Date;
  /** `null`: neither the record nor the settings say how long it lasts. */
  readonly end: Date | null;
}

/** The bookings of a patient at a unit. */
export interface Bookings {
  readonly bookings: readonly Booking[];
  /** Ids of those that cannot be read: they are not gone. */
  readonly unreadable: ReadonlySet<string>;
}

/**
 * The patient's bookings at the unit, past ones too. This is the only list that says for sure that a booking is gone. One in
 * the repeated hour of autumn counts as in the first if the settings do not say.
 */
export async function bookingsOf(at: At, subject: string): Promise<Bookings> {
  const answer = await askUnit(at, 'GetSubjectOfCareSchedule', subject, { subject_of_care: subject });
  const bookings: Booking[] = [];
  const unreadable = new Set<string>();
  for (const element of childrenOf(answer, namespace, 'timeslotDetail')) {
    const { record: slot, path } = readTimeslot(element);
    if (slot && !isOwn(slot, at.unit.hsaId, subject)) continue;
    const booking = slot && withTimes(at, slot);
    const id = bookingIdIn(element);
    if (booking && id !== undefined) {
      bookings.push(booking);
    } else {
      at.leftOut({ type: 'timeslotDetail', id, path: path ?? (booking ? '/bookingId' : '/startTimeInclusive') });
      if (id !== undefined) unreadable.add(id);
    }
  }
  return { bookings, unreadable };
}

/** An open invitation is no booking. */
function isOwn({ texts, isInvitation }: Timeslot, facility: string, subject: string): boolean {
  const isOfSubject = isSameSubject(texts.subject_of_care ?? subject, subject);
  return texts.healthcare_facility === facility && isOfSubject && !isInvitation;
}

/** `undefined`: the booking has no start, or one that the calendar does not have. */
export function withTimes({ careUnit, settings, unit }: At, slot: Timeslot): Booking | undefined {
  const { startTimeInclusive, endTimeExclusive } = slot.texts;
  const period = bookedPeriod(startTimeInclusive, endTimeExclusive, careUnit.timeZone, settings.repeated_hour);
  if (!period) return undefined;
  const service = unit.settings.healthcare_services?.find(({ id }) => id === serviceIdOf(slot));
  const minutes = service?.duration_minutes;
  const end = period.end ?? (minutes ? new Date(period.start.getTime() + minutes * 60_000) : null);
  return { ...slot, start: period.start, end };
}

/** The appointment that a booking is, at the port. */
export function appointmentOf(
  { careUnit, unit, now }: At,
  subject: string,
  booking: Booking,
  bookingId: string = booking.texts.bookingId ?? '',
): Appointment {
  const { hsaId: facility, settings } = unit;
  const { performer, resourceID, performerName, resourceName, timeTypeID, reason } = booking.texts;
  const namesResource = performer !== undefined || resourceID !== undefined;
  const hasUnit = settings.resources?.some(({ id }) => id === facility) === true;
  const hasUntyped = settings.healthcare_services?.some(({ id }) => id === untypedService) === true;
  return {
    id: appointmentIdOf({ subject, facility, bookingId }),
    state: 'booked',
    heldUntil: null,
    hasStarted: booking.start <= now(),
    start: booking.start,
    end: booking.end,
    comment: reason ?? null,
    patientId: patientIdOf(subject),
    resourceId: namesResource || hasUnit ? resourceIdOf(booking) : null,
    resourceName: performerName ?? resourceName ?? null,
    healthcareServiceId: timeTypeID !== undefined || hasUntyped ? serviceIdOf(booking) : null,
    careUnitId: careUnit.id,
  };
}

/** The list of each patient of whom these ids name a booking of the unit, read once. */
export async function listsWith(at: At, ids: readonly string[]) {
  const keys = ids.flatMap((id) => bookingKeyOf(id) ?? []).filter((it) => it.facility === at.unit.hsaId);
  const lists: (Bookings & { readonly subject: string; readonly wanted: ReadonlySet<string> })[] = [];
  for (const [subject, own] of Map.groupBy(keys, (it) => it.subject)) {
    const wanted = new Set(own.map(({ bookingId }) => bookingId));
    lists.push({ subject, wanted, ...(await bookingsOf(at, subject)) });
  }
  return lists;
}

/** @throws ConnectorError `rejected` if one of them is there and cannot be read */
export async function findAppointments(at: At, ids: readonly string[]): Promise<readonly Appointment[]> {
  const lists = await listsWith(at, ids);
  if (lists.some(({ wanted, unreadable }) => [...wanted].some((id) => unreadable.has(id)))) {
    throw new ConnectorError('rejected', 'The EHR has the booking, and responded with something that cannot be read');
  }
  return lists.flatMap(({ subject, wanted, bookings }) =>
    bookings.filter(({ texts }) => wanted.has(texts.bookingId ?? '')).map((it) => appointmentOf(at, subject, it)),
  );
}

/** @throws ConnectorError `unsupported` without a patient: no contract lists the bookings of a unit */
export async function listAppointments(at: At, query: AppointmentQuery): Promise<readonly Appointment[]> {
  const { patientId, states = [] } = query;
  if (patientId === undefined) throw new ConnectorError('unsupported', 'The producer lists bookings of a patient only');
  const subject = subjectOf(patientId);
  if (subject === undefined || (states.length > 0 && !states.includes('booked'))) return [];
  const { bookings } = await bookingsOf(at, subject);
  return appointmentsFor(
    bookings.map((it) => appointmentOf(at, subject, it)),
    query,
  );
}
