import {
  type Appointment,
  type AppointmentCancellation,
  type AppointmentUpdate,
  ConnectorError,
} from '@crossward/connector-kit';
import { assertChangeable, assertNotStarted, isMove, required } from '@crossward/connector-kit/rest';
import { appointmentIn, cancelReasonOf, readAppointment, toAppointment } from './appointments.ts';
import { assertCommentFits } from './book.ts';
import type { At } from './ehr.ts';
import type { FhirAppointment } from './fhir.ts';
import { patientNamer } from './patients.ts';
import { SpineError } from './spine-errors.ts';
import { extensions } from './urls.ts';

/** How often an appointment that others keep changing is read again. */
const attempts = 10;

export async function amend(at: At, update: AppointmentUpdate): Promise<Appointment> {
  const { appointmentId, comment } = update;
  if (isMove(update)) throw new ConnectorError('unsupported', 'GP Connect cannot move an appointment');
  assertCommentFits(comment);
  return changeExisting(at, appointmentId, (current, now) => {
    assertChangeable(current, false);
    if (comment === undefined || comment === current.comment) return undefined;
    const { comment: _, ...rest } = now;
    return { interaction: 'update:appointment-1', resource: { ...rest, ...(comment === null ? {} : { comment }) } };
  });
}

export async function cancel(at: At, { appointmentId, comment }: AppointmentCancellation): Promise<Appointment> {
  const reason = { url: extensions.cancellationReason, valueString: comment || cancelReasonOf(at.settings) };
  return changeExisting(at, appointmentId, (current, now) => {
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
  at: At,
  id: string,
  changed: (current: Appointment, resource: FhirAppointment) => Change | undefined,
): Promise<Appointment> {
  for (let attempt = 1; ; attempt++) {
    const { current, resource } = await mustRead(at, id);
    const change = changed(current, withoutReason(resource));
    if (!change) return current;
    assertNotStarted(current);
    try {
      const answer = await put(at, change, resource);
      const { record: result } = toAppointment(at, await patientNamer(at)(answer));
      if (result?.id === id && result.patientId === current.patientId) return result;
      throw new ConnectorError('outcome_unknown', 'The EHR responded to a change with another appointment');
    } catch (error) {
      if (!(error instanceof SpineError)) throw error;
      if (error.mayBeStale && attempt < attempts && (await hasChanged(at, resource, error))) continue;
      // A refused PUT of an unknown appointment has no code in some systems, and HTTP status 200.
      if (error.code === undefined) await mustRead(at, id);
      throw error;
    }
  }
}

/** The version is that of the read. The one in the answer to an earlier PUT is not the stored one. */
async function put(
  { client }: At,
  { interaction, resource }: Change,
  { id, meta }: FhirAppointment,
): Promise<FhirAppointment> {
  const version = meta?.versionId;
  if (version === undefined) throw new ConnectorError('rejected', 'The EHR sent an appointment without a version');
  return client.write(interaction, `Appointment/${id}`, resource, version);
}

async function mustRead(at: At, id: string) {
  const resource = required(await readAppointment(at, id), 'appointment_not_found');
  return { current: required(await appointmentIn(at, resource), 'appointment_not_found'), resource };
}

/** A refusal for the version is one of the state that was read. One of the content may be: versions are whole seconds. */
async function hasChanged(at: At, before: FhirAppointment, error: SpineError): Promise<boolean> {
  if (error.code !== 'INVALID_RESOURCE') return true;
  const now = await readAppointment(at, before.id ?? '');
  return JSON.stringify(now) !== JSON.stringify(before);
}

/** Some systems send the extension without a value, and do not take it back. */
function withoutReason(resource: FhirAppointment): FhirAppointment {
  const { extension, ...rest } = resource;
  return { ...rest, extension: (extension ?? []).filter((it) => it?.url !== extensions.cancellationReason) };
}
