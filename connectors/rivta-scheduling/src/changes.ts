import {
  type Appointment,
  type AppointmentCancellation,
  type AppointmentCreation,
  type AppointmentUpdate,
  type CareUnit,
  ConnectorError,
} from '@crossward/connector-kit';
import { isSameTime, requireResource, timeTaken } from '@crossward/connector-kit/rest';
import { asXmlText, childOf, leaves } from '@crossward/connector-kit/soap';
import { type BookingKey, bookingKeyOf } from './appointment-id.ts';
import { appointmentOf, type Booking, bookingsOf, withTimes } from './bookings.ts';
import type { RivtaDirectory } from './directory.ts';
import { readLocalTime } from './local-time.ts';
import { type Outcome, outcomeOf } from './outcome.ts';
import { isSameSubject, subjectOf } from './patient-id.ts';
import { core, coreExtension, messageNamespace, type Producer } from './producer.ts';
import { findFreeSlots } from './slots.ts';
import { type FreeSlot, readTimeslot, requestedTimeslot, resourceIdOf, serviceIdOf } from './timeslot.ts';

export interface Ehr {
  readonly producer: Producer;
  readonly directory: RivtaDirectory;
}

/** Books a slot as the producer shows it, without its flags. */
export async function create(
  { producer, directory }: Ehr,
  careUnit: CareUnit,
  creation: AppointmentCreation,
): Promise<Appointment> {
  const { patientId, patientDetails } = creation;
  const comment = asXmlText(creation.comment);
  const subject = subjectOf(patientId);
  if (subject === undefined) throw new ConnectorError('patient_not_found', 'The id of the patient is no number');
  if (!patientDetails?.givenName || !patientDetails.familyName) {
    throw new ConnectorError('unsupported', 'The producer books with the given and family name of the patient only');
  }
  await requireResource(directory, careUnit, creation.resourceId);
  const slot = await findSlot(producer, careUnit, subject, creation);
  if (!slot) throw timeTaken();
  const facility = producer.facilityOf(careUnit);
  const namespace = messageNamespace('MakeBooking');
  const answer = await producer.ask('MakeBooking', {
    facility,
    subject,
    content: [
      ...leaves(namespace, [['healthcare_facility_med', facility.medical]]),
      requestedTimeslot(namespace, slot, { subject, reason: comment }),
      {
        namespace,
        name: 'subject_of_care_info',
        content: [
          ...leaves(core, [
            ['phone', patientDetails.phone],
            ['email', patientDetails.email],
          ]),
          ...leaves(coreExtension, [
            ['firstName', patientDetails.givenName],
            ['lastName', patientDetails.familyName],
          ]),
        ],
      },
    ],
  });
  const outcome = outcomeOf(answer);
  if (!outcome.isDone) throw await refusal(outcome, () => findSlot(producer, careUnit, subject, creation));
  const booked = { ...slot, texts: { ...slot.texts, reason: comment ?? undefined } };
  // A producer may leave out the id. Then the gateway looks for the booking in the list of the patient.
  if (!outcome.bookingId) throw new ConnectorError('outcome_unknown', 'The producer booked without an id');
  return withNotice(appointmentOf(producer, careUnit, subject, booked, outcome.bookingId), outcome);
}

/** Moves a booking, which keeps its id, or changes its comment. */
export async function update(
  { producer, directory }: Ehr,
  careUnit: CareUnit,
  change: AppointmentUpdate,
): Promise<Appointment> {
  const { time, resourceId, comment } = change;
  const key = requireKey(producer, careUnit, change.appointmentId);
  if (resourceId !== undefined) await requireResource(directory, careUnit, resourceId);
  const booking = await requireBooking(producer, careUnit, key);
  const isMoved =
    !isSameTime(time ?? booking, booking) || (resourceId ?? resourceIdOf(booking)) !== resourceIdOf(booking);
  if (isMoved && booking.start <= producer.now()) {
    throw new ConnectorError('appointment_started', 'The visit has started');
  }
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
  const bookingId = wanted.resourceId === resourceIdOf(booking) ? key.bookingId : undefined;
  const find = () => findSlot(producer, careUnit, key.subject, wanted, bookingId);
  const slot = isMoved ? await find() : booking;
  if (!slot) throw timeTaken();
  const reason = comment === undefined ? (booking.texts.reason ?? null) : asXmlText(comment);
  const answer = await producer.ask('UpdateBooking', {
    facility: producer.facilityOf(careUnit),
    subject: key.subject,
    content: [
      requestedTimeslot(messageNamespace('UpdateBooking'), slot, {
        subject: key.subject,
        bookingId: key.bookingId,
        reason,
      }),
    ],
  });
  const outcome = outcomeOf(answer);
  if (!outcome.isDone) {
    await requireListed(producer, careUnit, key);
    throw await refusal(outcome, isMoved ? find : async () => slot);
  }
  const updated = { ...slot, texts: { ...slot.texts, reason: reason ?? undefined } };
  return withNotice(appointmentOf(producer, careUnit, key.subject, updated, key.bookingId), outcome);
}

/** Cancels a booking. It is then in no list. */
export async function cancel(
  { producer }: Ehr,
  careUnit: CareUnit,
  change: AppointmentCancellation,
): Promise<Appointment> {
  const key = requireKey(producer, careUnit, change.appointmentId);
  const booking = await requireBooking(producer, careUnit, key);
  if (booking.start <= producer.now()) throw new ConnectorError('appointment_started', 'The visit has started');
  if (!booking.allows.has('cancel_booking_allowed')) throw notAllowed('This booking cannot be cancelled online.');
  const message = booking.allows.has('message_allowed') ? (asXmlText(change.comment ?? null) ?? undefined) : undefined;
  const answer = await producer.askUnit('CancelBooking', { careUnit, subject: key.subject }, [
    ['bookingId', key.bookingId],
    ['message', message],
  ]);
  const outcome = outcomeOf(answer);
  // Somebody else may have cancelled it in between.
  if (!outcome.isDone && (await isListed(producer, careUnit, key))) throw refused(outcome);
  const cancelled = {
    ...appointmentOf(producer, careUnit, key.subject, booking, key.bookingId),
    state: 'cancelled',
  } as const;
  const comment = message ?? cancelled.comment;
  return withNotice({ ...cancelled, comment }, outcome);
}

function withNotice(appointment: Appointment, { isDone, text }: Outcome): Appointment {
  return isDone && text !== undefined ? { ...appointment, notice: text } : appointment;
}

type Wanted = Pick<AppointmentCreation, 'start' | 'end' | 'resourceId' | 'healthcareServiceId'>;

/** The free slot with exactly this time. A booking takes one slot. */
async function findSlot(
  producer: Producer,
  careUnit: CareUnit,
  subject: string,
  { start, end, resourceId, healthcareServiceId }: Wanted,
  bookingId?: string,
): Promise<FreeSlot | undefined> {
  const slots = await findFreeSlots(producer, {
    careUnit,
    start,
    end,
    subject,
    resourceIds: [resourceId],
    healthcareServiceIds: [healthcareServiceId],
    bookingId,
  });
  return slots.find((it) => isSameTime(it, { start, end }));
}

function requireKey(producer: Producer, careUnit: CareUnit, appointmentId: string): BookingKey {
  const key = bookingKeyOf(appointmentId);
  if (key?.facility === producer.facilityOf(careUnit).hsaId) return key;
  throw new ConnectorError('appointment_not_found', 'The unit has no such booking');
}

/**
 * The booking with its flags. Only GetBookingDetails has them always. It says that a booking is gone by a fault, like any
 * failure; so the list of the patient decides.
 */
async function requireBooking(producer: Producer, careUnit: CareUnit, key: BookingKey): Promise<Booking> {
  const facility = producer.facilityOf(careUnit);
  const namespace = messageNamespace('GetBookingDetails');
  const [answer] = await Promise.allSettled([
    producer.askUnit('GetBookingDetails', { careUnit, subject: key.subject }, [['bookingId', key.bookingId]]),
  ]);
  if (answer.status === 'rejected') {
    if (answer.reason instanceof ConnectorError && answer.reason.kind === 'rejected') {
      await requireListed(producer, careUnit, key);
    }
    throw answer.reason;
  }
  const detail = childOf(answer.value, namespace, 'timeslotDetail');
  const { record: slot } = (detail && readTimeslot(detail)) ?? {};
  const booking = slot && withTimes(producer, careUnit, slot);
  if (!booking) {
    throw new ConnectorError('rejected', 'The producer responded with a booking that cannot be read, or without one');
  }
  const { healthcare_facility, bookingId = key.bookingId, subject_of_care = key.subject } = booking.texts;
  if (
    healthcare_facility === facility.hsaId &&
    bookingId === key.bookingId &&
    isSameSubject(subject_of_care, key.subject)
  ) {
    return booking;
  }
  throw new ConnectorError('rejected', 'The producer responded with another booking');
}

/** @throws ConnectorError `appointment_cancelled` if the booking is gone. Its id was one of a booking. */
async function requireListed(producer: Producer, careUnit: CareUnit, key: BookingKey): Promise<void> {
  if (await isListed(producer, careUnit, key)) return;
  throw new ConnectorError('appointment_cancelled', 'The booking is no longer in the list of the patient');
}

async function isListed(producer: Producer, careUnit: CareUnit, { subject, bookingId }: BookingKey): Promise<boolean> {
  const { bookings, unreadable } = await bookingsOf(producer, careUnit, subject);
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
