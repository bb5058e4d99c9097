import { type Appointment, type AppointmentQuery, ConnectorError } from '@crossward/connector-kit';
import {
  appointmentsFor,
  counted,
  fhirStandings,
  instantIn,
  type Reading,
  readEach,
  readRecord,
  standingIn,
} from '@crossward/connector-kit/rest';
import type { Static } from 'typebox';
import { type At, isAt, resourceIdOf, serviceOf } from './ehr.ts';
import { deliveryChannel, type FhirAppointment, isFhirId, modalityOf } from './fhir.ts';
import { isPatient, patientNamer } from './patients.ts';
import { appointmentSchema } from './records.ts';
import { defaultCancelReason, type GpConnectSettings } from './settings.ts';
import { SpineError } from './spine-errors.ts';
import { ukDate } from './uk-time.ts';
import { extensions } from './urls.ts';

const day = 24 * 60 * 60 * 1000;
/** For a list without an end. Practices offer slots for some weeks. */
const farAheadDays = 730;

/** An appointment is shown whenever it has a patient and a start. `null`: it is one of another care unit. */
export function toAppointment(at: At, resource: unknown): Reading<Appointment | null> {
  const { client, careUnit, settings, unit } = at;
  const { record, path } = readRecord(appointmentSchema, resource);
  if (!record) return { path };
  const { id, status, serviceType, serviceCategory, participant } = record;
  const actors = participant.map(({ actor }) => actor);
  const [patient, location, practitioner] = ['Patient', 'Location', 'Practitioner'].map((type) =>
    client.references.to(type, actors),
  );
  const place = { location, practitioner };
  const [start, standing] = [instantIn(record.start), standingIn(fhirStandings, status)];
  if (!start) return { path: '/start' };
  if (!standing) return { path: '/status' };
  if (patient === undefined) return { path: '/participant' };
  if (!isAt(at, place)) return { record: null };
  const types = { slotType: serviceType?.[0]?.text, scheduleType: serviceCategory?.text };
  const service = serviceOf(at, { ...place, ...types });
  const resourceId = resourceIdOf(place);
  const hasResource = practitioner !== undefined || unit.resources.some((it) => it.id === resourceId);
  const others = actors.filter((it) => client.references.to('Patient', [it]) === undefined);
  return {
    record: {
      id,
      ...standing,
      heldUntil: null,
      // GP Connect refuses every change of an appointment whose time has come.
      hasStarted: standing.hasStarted || start <= at.now(),
      start,
      end: endOf(record, start, service?.duration_minutes),
      comment: commentOf(record, settings),
      patientId: patient.slice('Patient/'.length),
      resourceId: hasResource ? resourceId : null,
      resourceName: others.find((it) => it?.display !== undefined)?.display ?? null,
      healthcareServiceId: service?.id ?? null,
      careUnitId: careUnit.id,
      modality: modalityOf(deliveryChannel(record)),
    },
  };
}

type Read = Static<typeof appointmentSchema>;

/** That of the record, or by its duration or that of the service. `null`: none of them is known. */
function endOf({ end, minutesDuration = 0 }: Read, start: Date, ofService: number | undefined): Date | null {
  const written = instantIn(end);
  if (written && written > start) return written;
  const minutes = minutesDuration > 0 ? minutesDuration : ofService;
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

export async function findAppointments(at: At, ids: readonly string[]): Promise<readonly Appointment[]> {
  return readEach(ids, async (id) => {
    const resource = await readAppointment(at, id);
    return resource && appointmentIn(at, resource);
  });
}

/**
 * The appointment that was read by its id. `null`: it is one of another care unit.
 *
 * @throws ConnectorError `rejected` if it cannot be read: nobody may take it for one that is gone
 */
export async function appointmentIn(at: At, read: FhirAppointment): Promise<Appointment | null> {
  const { record, path } = toAppointment(at, await patientNamer(at)(read));
  if (path === undefined) return record;
  at.leftOut({ type: 'Appointment', id: read.id, path });
  throw new ConnectorError('rejected', `The EHR sent an appointment that cannot be read (${path})`);
}

/** `null`: the practice has none with this id. */
export function readAppointment({ client }: At, id: string): Promise<FhirAppointment | null> {
  return client.find<FhirAppointment>('read:appointment-1', 'Appointment', id);
}

/** Of one patient, from today on: GP Connect lists no others. */
export async function listAppointments(at: At, query: AppointmentQuery): Promise<readonly Appointment[]> {
  const { patientId } = query;
  if (patientId === undefined) {
    throw new ConnectorError('unsupported', 'GP Connect lists the appointments of one patient at a time');
  }
  const namePatient = patientNamer(at, patientId);
  const found: Appointment[] = [];
  for (const it of await appointmentsOf(at, patientId, query.range)) {
    const appointment = counted(at, 'Appointment', toAppointment(at, await namePatient(it)), it.id);
    if (appointment) found.push(appointment);
  }
  return appointmentsFor(found, query);
}

/** None for a patient whom the practice does not have. */
async function appointmentsOf(
  { client, now }: At,
  patientId: string,
  range: AppointmentQuery['range'],
): Promise<readonly FhirAppointment[]> {
  const today = ukDate(now());
  // One that began on the day before can reach into the range.
  const first = ukDate(range === undefined ? now() : new Date(range.start.getTime() - day));
  const last = ukDate(range?.end ?? new Date(now().getTime() + farAheadDays * day));
  if (!isFhirId(patientId) || last < today) return [];
  const path = `Patient/${patientId}/Appointment?start=ge${first < today ? today : first}&start=le${last}`;
  try {
    const found = await client.search('search:patient_appointments-1', path);
    return found.filter(({ resourceType }) => resourceType === 'Appointment');
  } catch (error) {
    if (!(error instanceof SpineError)) throw error;
    if (error.isAbsence || (error.isBadRequest && !(await isPatient(client, patientId)))) return [];
    throw error;
  }
}
