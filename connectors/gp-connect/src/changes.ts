import {
  type Appointment,
  type AppointmentCancellation,
  type AppointmentUpdate,
  type CareUnit,
  ConnectorError,
} from '@crossward/connector-kit';
import { cancelReasonOf, toAppointment } from './appointment.ts';
import { appointmentIn, readAppointment } from './appointment-reads.ts';
import { assertCommentFits } from './book.ts';
import type { GpConnectConnection } from './connection.ts';
import type { FhirAppointment } from './fhir.ts';
import { patientNamer } from './patient-by-number.ts';
import { SpineError } from './spine-errors.ts';
import { extensions } from './urls.ts';

/** How often an appointment that others keep changing is read again. */
const attempts = 10;

export async function amend(
  ehr: GpConnectConnection,
  careUnit: CareUnit,
  update: AppointmentUpdate,
): Promise<Appointment> {
  const { appointmentId, time, resourceId, comment } = update;
  if (time !== undefined || resourceId !== undefined) {
    throw new ConnectorError('unsupported', 'GP Connect cannot move an appointment');
  }
  assertCommentFits(comment);
  return changeExisting(ehr, careUnit, appointmentId, (current, now) => {
    if (current.state === 'cancelled') throw new ConnectorError('appointment_cancelled', 'It is cancelled');
    if (comment === undefined || comment === current.comment) return undefined;
    const { comment: _, ...rest } = now;
    return { interaction: 'update:appointment-1', resource: { ...rest, ...(comment === null ? {} : { comment }) } };
  });
}

export async function cancel(
  ehr: GpConnectConnection,
  careUnit: CareUnit,
  { appointmentId, comment }: AppointmentCancellation,
): Promise<Appointment> {
  const reason = { url: extensions.cancellationReason, valueString: comment || cancelReasonOf(ehr.settings) };
  return changeExisting(ehr, careUnit, appointmentId, (current, now) => {
    if (current.state === 'cancelled') return undefined;
    const { extension, ...rest } = now;
    return {
      interaction: 'cancel:appointment-1',
      resource: { ...rest, status: 'cancelled', extension: [...(extension ?? []), reason] },
    };
  });
}

interface Change {
  readonly interaction: 'update:appointment-1' | 'cancel:appointment-1';
  readonly resource: FhirAppointment;
}

/**
 * Sends back the appointment as it was read, with the change, and reads it again if somebody else was faster.
 *
 * @param changed `undefined`: there is nothing to change
 * @throws ConnectorError `unavailable` if others keep changing it
 */
async function changeExisting(
  ehr: GpConnectConnection,
  careUnit: CareUnit,
  id: string,
  changed: (current: Appointment, resource: FhirAppointment) => Change | undefined,
): Promise<Appointment> {
  for (let attempt = 1; ; attempt++) {
    const { current, resource } = await mustRead(ehr, careUnit, id);
    const change = changed(current, withoutReason(resource));
    if (!change) return current;
    if (current.hasStarted) throw new ConnectorError('appointment_started', 'Its time has come');
    try {
      const answer = await put(ehr, change, resource);
      const { record: result } = toAppointment(ehr, careUnit.id, await patientNamer(ehr)(answer));
      if (result?.id === id && result.patientId === current.patientId) return result;
      throw new ConnectorError('outcome_unknown', 'The EHR responded to a change with another appointment');
    } catch (error) {
      if (!(error instanceof SpineError)) throw error;
      if (error.mayBeStale && attempt < attempts && (await hasChanged(ehr, resource, error))) continue;
      throw await explained(ehr, careUnit, id, error);
    }
  }
}

/** The version is that of the read. The one in the answer to an earlier PUT is not the stored one. */
async function put(
  { client }: GpConnectConnection,
  { interaction, resource }: Change,
  { id, meta }: FhirAppointment,
): Promise<FhirAppointment> {
  const version = meta?.versionId;
  if (version === undefined) throw new ConnectorError('rejected', 'The EHR sent an appointment without a version');
  return client.write(interaction, `Appointment/${id}`, resource, version);
}

async function mustRead(ehr: GpConnectConnection, careUnit: CareUnit, id: string) {
  const resource = await readAppointment(ehr, id);
  const current = resource && (await appointmentIn(ehr, careUnit, resource));
  if (!current) throw new ConnectorError('appointment_not_found', 'No such appointment');
  return { current, resource };
}

/** A refusal for the version is one of the state that was read. One of the content may be: versions are whole seconds. */
async function hasChanged(ehr: GpConnectConnection, before: FhirAppointment, error: SpineError): Promise<boolean> {
  if (error.code !== 'INVALID_RESOURCE') return true;
  const now = await readAppointment(ehr, before.id ?? '');
  return JSON.stringify(now) !== JSON.stringify(before);
}

/** A refused PUT of an unknown appointment has no code in some systems, and HTTP status 200. */
async function explained(
  ehr: GpConnectConnection,
  careUnit: CareUnit,
  id: string,
  error: SpineError,
): Promise<ConnectorError> {
  if (error.code === undefined) await mustRead(ehr, careUnit, id);
  return error;
}

/** Some systems send the extension without a value, and do not take it back. */
function withoutReason(resource: FhirAppointment): FhirAppointment {
  const { extension, ...rest } = resource;
  return { ...rest, extension: (extension ?? []).filter((it) => it?.url !== extensions.cancellationReason) };
}
