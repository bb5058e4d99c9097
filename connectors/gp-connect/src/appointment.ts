import type { Appointment } from '@crossward/connector-kit';
import { instantIn, type Reading, readRecord, type Standings, standingIn } from '@crossward/connector-kit/rest';
import type { Static } from 'typebox';
import { type Directory, resourceIdOf } from './directory.ts';
import { deliveryChannel, modalityOf } from './modality.ts';
import { appointmentSchema } from './records.ts';
import type { References } from './references.ts';
import { defaultCancelReason, type GpConnectSettings } from './settings.ts';
import { extensions } from './urls.ts';

/** https://hl7.org/fhir/STU3/valueset-appointmentstatus.html */
const standings: Standings = {
  proposed: ['pending', null],
  pending: ['pending', null],
  booked: ['booked', null],
  arrived: ['booked', 'arrived'],
  fulfilled: ['booked', 'completed'],
  cancelled: ['cancelled', null],
  noshow: ['cancelled', 'no_show'],
  'entered-in-error': ['cancelled', null],
};

interface Surroundings {
  readonly directory: Directory;
  readonly settings: GpConnectSettings;
  readonly references: References;
  now(): Date;
}

/** An appointment is shown whenever it has a patient and a start. `null`: it is one of another care unit. */
export function toAppointment(
  { directory, settings, references, now }: Surroundings,
  careUnitId: string,
  resource: unknown,
): Reading<Appointment | null> {
  const { record, path } = readRecord(appointmentSchema, resource);
  if (!record) return { path };
  const { id, status, serviceType, serviceCategory, participant } = record;
  const actors = participant.map(({ actor }) => actor);
  const patient = references.to('Patient', actors);
  const place = { location: references.to('Location', actors), practitioner: references.to('Practitioner', actors) };
  const [start, standing] = [instantIn(record.start), standingIn(standings, status)];
  if (!start) return { path: '/start' };
  if (!standing) return { path: '/status' };
  if (patient === undefined) return { path: '/participant' };
  if (!directory.isAt(careUnitId, place)) return { record: null };
  const service = directory.serviceOf({
    ...place,
    slotType: serviceType?.[0]?.text,
    scheduleType: serviceCategory?.text,
  });
  const hasResource = place.practitioner !== undefined || directory.resourceOf(careUnitId, resourceIdOf(place));
  const others = actors.filter((it) => references.to('Patient', [it]) === undefined);
  return {
    record: {
      id,
      ...standing,
      heldUntil: null,
      // GP Connect refuses every change of an appointment whose time has come.
      hasStarted: standing.hasStarted || start <= now(),
      start,
      end: endOf(record, start, service?.durationMinutes),
      comment: commentOf(record, settings),
      patientId: patient.slice('Patient/'.length),
      resourceId: hasResource ? resourceIdOf(place) : null,
      resourceName: others.find((it) => it?.display !== undefined)?.display ?? null,
      healthcareServiceId: service?.id ?? null,
      careUnitId,
      modality: modalityOf(deliveryChannel(record)),
    },
  };
}

type Read = Static<typeof appointmentSchema>;

/** That of the record, or by its duration or that of the service. `null`: none of them is known. */
function endOf({ end, minutesDuration }: Read, start: Date, ofService: number | null | undefined): Date | null {
  const written = instantIn(end);
  if (written && written > start) return written;
  const minutes = minutesDuration !== undefined && minutesDuration > 0 ? minutesDuration : ofService;
  return minutes ? new Date(start.getTime() + minutes * 60_000) : null;
}

export function cancelReasonOf({ cancel_reason = defaultCancelReason }: GpConnectSettings): string {
  return cancel_reason;
}

/** The reason of a cancellation replaces the comment, which GP Connect does not let anybody change on cancelling. */
function commentOf(resource: Read, settings: GpConnectSettings): string | null {
  const reason = resource.extension?.find(({ url }) => url === extensions.cancellationReason)?.valueString;
  const isReason = resource.status === 'cancelled' && reason !== undefined && reason !== cancelReasonOf(settings);
  return (isReason ? reason : resource.comment) || null;
}
