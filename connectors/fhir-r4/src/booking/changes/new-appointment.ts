import type { AppointmentCreation } from '@crossward/connector-kit';
import type { CareUnitDirectory } from '../../directory/directory.ts';
import {
  type FhirAppointment,
  type FhirIdentifier,
  type FhirSlot,
  localReference,
  type Participant,
  referenceTo,
} from '../../fhir.ts';
import { withComment, withHold } from '../../mappers/appointment.ts';
import { serviceTypeOf } from '../../mappers/healthcare-service.ts';
import { resourceId } from '../../mappers/resource.ts';
import type { BookingConnection } from '../../server/connection.ts';

/** A new Appointment without time and slots. A held one is `pending`: https://hl7.org/fhir/R4/appointment.html */
export function newAppointment(
  creation: AppointmentCreation,
  directory: CareUnitDirectory,
  { dialect, operationLookup }: BookingConnection,
  identifier: readonly FhirIdentifier[],
): FhirAppointment {
  const { holdUntil } = creation;
  const service = directory.services.find(({ id }) => id === creation.healthcareServiceId);
  const patient = {
    actor: { reference: `Patient/${creation.patientId}` },
    status: holdUntil ? 'tentative' : 'accepted',
  };
  const others = [directory.referenceOf(creation.resourceId), directory.location, service?.reference]
    .filter((reference) => reference !== undefined)
    .map((reference): Participant => ({ actor: { reference }, status: 'accepted' }));
  const appointment: FhirAppointment = {
    resourceType: 'Appointment',
    status: holdUntil ? 'pending' : 'booked',
    ...(operationLookup ? { identifier } : {}),
    ...(service ? { serviceType: serviceTypeOf(service) } : {}),
    participant: [patient, ...others],
  };
  return withHold(withComment(appointment, dialect, creation.comment), holdUntil);
}

/** The appointment with this time, these slots and this resource in place of the former one. */
export function placedAppointment(
  appointment: FhirAppointment,
  slots: readonly FhirSlot[],
  { start, end }: { readonly start: Date; readonly end: Date },
  wantedResource: string,
  directory: CareUnitDirectory,
): FhirAppointment {
  const former = directory.resourceOf(appointment);
  const wanted = directory.referenceOf(wantedResource);
  const participant = appointment.participant?.map((it) => {
    const actor = localReference(it.actor) ?? '';
    const isLeaving = former !== wantedResource && resourceId(directory.practitionerOf(actor) ?? actor) === former;
    return isLeaving && wanted !== undefined ? { ...it, actor: { reference: wanted } } : it;
  });
  return {
    ...appointment,
    ...(participant ? { participant } : {}),
    start: start.toISOString(),
    end: end.toISOString(),
    minutesDuration: Math.round((end.getTime() - start.getTime()) / 60_000),
    ...(slots.length > 0 ? { slot: slots.map((slot) => ({ reference: referenceTo(slot) })) } : {}),
  };
}
