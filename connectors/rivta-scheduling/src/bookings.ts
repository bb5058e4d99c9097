import {
  type Appointment,
  type AppointmentQuery,
  type CareUnit,
  ConnectorError,
  overlaps,
} from '@crossward/connector-kit';
import { appointmentIdOf, bookingKeyOf } from './appointment-id.ts';
import { isSameSubject, patientIdOf, subjectOf } from './patient-id.ts';
import { messageNamespace, type Producer } from './producer.ts';
import { readTimeslot, resourceIdOf, serviceIdOf, type TimedSlot, withTimes } from './timeslot.ts';
import { childrenOf, leaves } from './xml.ts';

const namespace = messageNamespace('GetSubjectOfCareSchedule');

/**
 * The patient's bookings at the unit, past ones too. This is the only list that says for sure that a booking is gone. One in
 * the repeated hour of autumn counts as in the first if the settings do not say.
 */
export async function bookingsOf(
  producer: Producer,
  careUnit: CareUnit,
  subject: string,
): Promise<readonly TimedSlot[]> {
  const facility = producer.facilityOf(careUnit);
  const answer = await producer.ask('GetSubjectOfCareSchedule', {
    facility,
    subject,
    content: leaves(namespace, [
      ['healthcare_facility', facility.hsaId],
      ['subject_of_care', subject],
    ]),
  });
  const slots = childrenOf(answer, namespace, 'timeslotDetail').map(readTimeslot);
  const own = slots.filter(
    ({ texts, isInvitation }) =>
      texts.healthcare_facility === facility.hsaId &&
      texts.bookingId !== undefined &&
      isSameSubject(texts.subject_of_care ?? subject, subject) &&
      !isInvitation,
  );
  return withTimes(own, careUnit, ruleForBookings(producer));
}

/** A booking is never left out because of the hour in which it is. */
export function ruleForBookings({ repeatedHour }: Producer): 'first' | 'second' {
  return repeatedHour === 'second' ? 'second' : 'first';
}

/** The appointment that a booking is, at the port. */
export function appointmentOf(
  producer: Producer,
  careUnit: CareUnit,
  subject: string,
  booking: TimedSlot,
  bookingId: string = booking.texts.bookingId ?? '',
): Appointment {
  const facility = producer.facilityOf(careUnit).hsaId;
  return {
    id: appointmentIdOf({ subject, facility, bookingId }),
    state: 'booked',
    heldUntil: null,
    hasStarted: booking.start <= producer.now(),
    start: booking.start,
    end: booking.end,
    comment: booking.texts.reason ?? null,
    patientId: patientIdOf(subject),
    resourceId: resourceIdOf(booking),
    healthcareServiceId: serviceIdOf(booking),
    careUnitId: careUnit.id,
  };
}

/** The list of each patient is read once. */
export async function findAppointments(
  producer: Producer,
  careUnit: CareUnit,
  ids: readonly string[],
): Promise<readonly Appointment[]> {
  const facility = producer.facilityOf(careUnit).hsaId;
  const keys = ids.map(bookingKeyOf).filter((it) => it?.facility === facility);
  const found: Appointment[] = [];
  for (const subject of new Set(keys.flatMap((it) => it?.subject ?? []))) {
    const bookings = await bookingsOf(producer, careUnit, subject);
    found.push(...bookings.map((it) => appointmentOf(producer, careUnit, subject, it)));
  }
  return found.filter(({ id }) => ids.includes(id));
}

/** @throws ConnectorError `unsupported` without a patient: no contract lists the bookings of a unit */
export async function listAppointments(producer: Producer, query: AppointmentQuery): Promise<readonly Appointment[]> {
  const { careUnit, patientId, resourceId, range, states = [], after, limit } = query;
  if (patientId === undefined) throw new ConnectorError('unsupported', 'The producer lists bookings of a patient only');
  const subject = subjectOf(patientId);
  if (subject === undefined || (states.length > 0 && !states.includes('booked'))) return [];
  const bookings = await bookingsOf(producer, careUnit, subject);
  return bookings
    .map((it) => appointmentOf(producer, careUnit, subject, it))
    .filter((it) => resourceId === undefined || it.resourceId === resourceId)
    .filter((it) => range === undefined || overlaps(it, range))
    .filter((it) => after === undefined || compare(it, after) > 0)
    .sort(compare)
    .slice(0, limit);
}

type Position = Pick<Appointment, 'start' | 'id'>;

function compare(a: Position, b: Position): number {
  return a.start.getTime() - b.start.getTime() || (a.id < b.id ? -1 : Number(a.id > b.id));
}
