import {
  type Appointment,
  type AppointmentCancellation,
  type AppointmentCreation,
  type AppointmentUpdate,
  ConnectorError,
} from '@crossward/connector-kit';
import { assertNotStarted, isSameTime, requireResource, timeTaken } from '@crossward/connector-kit/rest';
import { asXmlText, childOf, leaves } from '@crossward/connector-kit/soap';
import { appointmentOf, type Booking, bookingsOf, withTimes } from './bookings.ts';
import { type At, askUnit } from './ehr.ts';
import { type BookingKey, bookingKeyOf, isSameSubject, subjectOf } from './ids.ts';
import { readLocalTime } from './local-time.ts';
import { type Outcome, outcomeOf } from './outcome.ts';
import { core, coreExtension, messageNamespace } from './producer.ts';
import { findFreeSlots } from './slots.ts';
import { type FreeSlot, readTimeslot, requestedTimeslot, resourceIdOf, serviceIdOf } from './timeslot.ts';

/** Books a slot as the producer shows it, without its flags. */
export async function create(at: At, creation: AppointmentCreation): Promise<Appointment> {
  const { patientId, patientDetails } = creation;
  const comment = asXmlText(creation.comment);
  const subject = subjectOf(patientId);
  if (subject === undefined) throw new ConnectorError('patient_not_found', 'The id of the patient is no number');
  const { givenName: firstName, familyName: lastName, phone, email } = patientDetails ?? {};
  if (!firstName || !lastName) {
    throw new ConnectorError('unsupported', 'The producer books with the given and family name of the patient only');
  }
  await requireResource(at.lists, creation.resourceId);
  const find = () => findSlot(at, subject, creation);
  const slot = await find();
  if (!slot) throw timeTaken();
  const namespace = messageNamespace('MakeBooking');
  const info = [...leaves(core, { phone, email }), ...leaves(coreExtension, { firstName, lastName })];
  const answer = await at.client.ask('MakeBooking', at.unit, subject, [
    ...leaves(namespace, { healthcare_facility_med: at.unit.medical }),
    requestedTimeslot(namespace, slot, { subject, reason: comment }),
    { namespace, name: 'subject_of_care_info', content: info },
  ]);
  const outcome = outcomeOf(answer);
  if (!outcome.isDone) throw await refusal(outcome, find);
  const booked = { ...slot, texts: { ...slot.texts, reason: comment ?? undefined } };
  // A producer may leave out the id. Then the gateway looks for the booking in the list of the patient.
  if (!outcome.bookingId) throw new ConnectorError('outcome_unknown', 'The producer booked without an id');
  return withNotice(appointmentOf(at, subject, booked, outcome.bookingId), outcome);
}

/** Moves a booking, which keeps its id, or changes its comment. */
export async function update(at: At, change: AppointmentUpdate): Promise<Appointment> {
  const { time, resourceId, comment } = change;
  const key = requireKey(at, change.appointmentId);
  const { subject, bookingId } = key;
  if (resourceId !== undefined) await requireResource(at.lists, resourceId);
  const booking = await requireBooking(at, key);
  const isMoved =
    !isSameTime(time ?? booking, booking) || (resourceId ?? resourceIdOf(booking)) !== resourceIdOf(booking);
  if (isMoved) assertNotStarted({ hasStarted: booking.start <= at.now() });
  if (!booking.allows.has('rebooking_allowed')) throw notAllowed('This booking cannot be changed online.');
  const end = time?.end ?? booking.end;
  // UpdateBooking needs both times.
  if (!end || !(isMoved || readLocalTime(booking.texts.endTimeExclusive)))
    throw notAllowed('This booking has no end, so it cannot be changed online.');
  const wanted = {
    start: time?.start ?? booking.start,
    end,
    resourceId: resourceId ?? resourceIdOf(booking),
    healthcareServiceId: serviceIdOf(booking),
  };
  // With the booking's id the producer shows times of the same resource only.
  const moving = wanted.resourceId === resourceIdOf(booking) ? bookingId : undefined;
  const find = () => findSlot(at, subject, wanted, moving);
  const slot = isMoved ? await find() : booking;
  if (!slot) throw timeTaken();
  const reason = comment === undefined ? (booking.texts.reason ?? null) : asXmlText(comment);
  const requested = requestedTimeslot(messageNamespace('UpdateBooking'), slot, { subject, bookingId, reason });
  const outcome = outcomeOf(await at.client.ask('UpdateBooking', at.unit, subject, [requested]));
  if (!outcome.isDone) {
    await requireListed(at, key);
    throw await refusal(outcome, isMoved ? find : async () => slot);
  }
  const updated = { ...slot, texts: { ...slot.texts, reason: reason ?? undefined } };
  return withNotice(appointmentOf(at, subject, updated, bookingId), outcome);
}

/** Cancels a booking. It is then in no list. */
export async function cancel(at: At, change: AppointmentCancellation): Promise<Appointment> {
  const key = requireKey(at, change.appointmentId);
  const { subject, bookingId } = key;
  const booking = await requireBooking(at, key);
  const appointment = appointmentOf(at, subject, booking, bookingId);
  assertNotStarted(appointment);
  if (!booking.allows.has('cancel_booking_allowed')) throw notAllowed('This booking cannot be cancelled online.');
  const message = booking.allows.has('message_allowed') ? asXmlText(change.comment ?? null) : null;
  const outcome = outcomeOf(await askUnit(at, 'CancelBooking', subject, { bookingId, message }));
  // Somebody else may have cancelled it in between.
  if (!outcome.isDone && (await isListed(at, key))) throw refused(outcome);
  return withNotice({ ...appointment, state: 'cancelled', comment: message ?? appointment.comment }, outcome);
}

function withNotice(appointment: Appointment, { isDone, text }: Outcome): Appointment {
  return isDone && text !== undefined ? { ...appointment, notice: text } : appointment;
}

type Wanted = Pick<AppointmentCreation, 'start' | 'end' | 'resourceId' | 'healthcareServiceId'>;

/** The free slot with exactly this time. A booking takes one slot. */
async function findSlot(
  at: At,
  subject: string,
  { start, end, resourceId, healthcareServiceId }: Wanted,
  bookingId?: string,
): Promise<FreeSlot | undefined> {
  const filters = { resourceIds: [resourceId], healthcareServiceIds: [healthcareServiceId] };
  const slots = await findFreeSlots(at, { start, end, subject, ...filters, bookingId });
  return slots.find((it) => isSameTime(it, { start, end }));
}

function requireKey(at: At, appointmentId: string): BookingKey {
  const key = bookingKeyOf(appointmentId);
  if (key?.facility === at.unit.hsaId) return key;
  throw new ConnectorError('appointment_not_found', 'The unit has no such booking');
}

/**
 * The booking with its flags. Only GetBookingDetails has them always. It says that a booking is gone by a fault, like any
 * failure; so the list of the patient decides.
 */
async function requireBooking(at: At, key: BookingKey): Promise<Booking> {
  const answer = await askUnit(at, 'GetBookingDetails', key.subject, { bookingId: key.bookingId }).catch(
    async (error: unknown) => {
      if (error instanceof ConnectorError && error.kind === 'rejected') await requireListed(at, key);
      throw error;
    },
  );
  const detail = childOf(answer, messageNamespace('GetBookingDetails'), 'timeslotDetail');
  const { record: slot } = (detail && readTimeslot(detail)) ?? {};
  const booking = slot && withTimes(at, slot);
  if (!booking) {
    throw new ConnectorError('rejected', 'The producer responded with a booking that cannot be read, or without one');
  }
  const { healthcare_facility, bookingId = key.bookingId, subject_of_care = key.subject } = booking.texts;
  const isSame = healthcare_facility === key.facility && bookingId === key.bookingId;
  if (isSame && isSameSubject(subject_of_care, key.subject)) return booking;
  throw new ConnectorError('rejected', 'The producer responded with another booking');
}

/** @throws ConnectorError `appointment_cancelled` if the booking is gone. Its id was one of a booking. */
async function requireListed(at: At, key: BookingKey): Promise<void> {
  if (await isListed(at, key)) return;
  throw new ConnectorError('appointment_cancelled', 'The booking is no longer in the list of the patient');
}

async function isListed(at: At, { subject, bookingId }: BookingKey): Promise<boolean> {
  const { bookings, unreadable } = await bookingsOf(at, subject);
  return unreadable.has(bookingId) || bookings.some(({ texts }) => texts.bookingId === bookingId);
}

/**
 * Why a booking or a move was refused. There is no code for a lost time: it was that if the time is no longer free. Otherwise the
 * producer has another reason, and only its text says which.
 */
async function refusal(outcome: Outcome, find: () => Promise<object | undefined>): Promise<ConnectorError> {
  // The refusal is certain, so a failure to look must not make it look like an unknown outcome.
  const slot = await find().catch(() => 'not known');
  return slot === undefined ? timeTaken({ publicDetail: outcome.text }) : refused(outcome);
}

function refused({ text }: Outcome): ConnectorError {
  return new ConnectorError('rejected', 'The producer refused the change', { publicDetail: text });
}

function notAllowed(publicDetail: string): ConnectorError {
  return new ConnectorError('change_not_allowed', 'The producer does not allow the change', { publicDetail });
}
