import type { Appointment, AppointmentState, Attendance } from '@crossward/connector-kit';
import { type Directory, resourceIdOf } from './directory.ts';
import { type FhirAppointment, referenceTo } from './fhir.ts';
import { deliveryChannel, modalityOf } from './modality.ts';
import { defaultCancelReason, type GpConnectSettings } from './settings.ts';
import { extensions } from './urls.ts';

/** https://hl7.org/fhir/STU3/valueset-appointmentstatus.html */
const states: Readonly<Record<string, AppointmentState>> = {
  proposed: 'pending',
  pending: 'pending',
  booked: 'booked',
  arrived: 'booked',
  fulfilled: 'booked',
  cancelled: 'cancelled',
  noshow: 'cancelled',
};

const attendances: Readonly<Record<string, Attendance>> = {
  arrived: 'arrived',
  fulfilled: 'completed',
  noshow: 'no_show',
};

interface Surroundings {
  readonly directory: Directory;
  readonly settings: GpConnectSettings;
  now(): Date;
}

/** `undefined` for an appointment of another care unit, or one without an id, a time, a patient or a known status. */
export function toAppointment(
  { directory, settings, now }: Surroundings,
  careUnitId: string,
  resource: FhirAppointment,
): Appointment | undefined {
  const { id, status = '', serviceType, serviceCategory, participant = [] } = resource;
  const [start, end] = [new Date(resource.start ?? ''), new Date(resource.end ?? '')];
  const actors = participant.map(({ actor }) => actor);
  const patient = referenceTo('Patient', actors);
  const place = { location: referenceTo('Location', actors), practitioner: referenceTo('Practitioner', actors) };
  const state = states[status];
  if (id === undefined || state === undefined || patient === undefined || !(start < end)) return undefined;
  if (!directory.isAt(careUnitId, place)) return undefined;
  return {
    id,
    state,
    heldUntil: null,
    // GP Connect refuses every change of an appointment whose time has come.
    hasStarted: status === 'arrived' || status === 'fulfilled' || start <= now(),
    start,
    end,
    comment: commentOf(resource, settings),
    patientId: patient.slice('Patient/'.length),
    resourceId: resourceIdOf(place),
    healthcareServiceId: directory.serviceOf({
      ...place,
      slotType: serviceType?.[0]?.text,
      scheduleType: serviceCategory?.text,
    }),
    careUnitId,
    attendance: attendances[status] ?? null,
    modality: modalityOf(deliveryChannel(resource)),
  };
}

export function cancelReasonOf({ cancel_reason = defaultCancelReason }: GpConnectSettings): string {
  return cancel_reason;
}

/** The reason of a cancellation replaces the comment, which GP Connect does not let anybody change on cancelling. */
function commentOf(resource: FhirAppointment, settings: GpConnectSettings): string | null {
  const reason = resource.extension?.find(({ url }) => url === extensions.cancellationReason)?.valueString;
  const isReason = resource.status === 'cancelled' && reason !== undefined && reason !== cancelReasonOf(settings);
  return (isReason ? reason : resource.comment) || null;
}
