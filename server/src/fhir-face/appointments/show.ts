import type { Appointment } from '@medplum/fhirtypes';
import type { FastifyRequest } from 'fastify';
import { isReplayed, oneRecord } from '../../api/audit-request.ts';
import type { Shown } from '../../api/endpoint.ts';
import type { AppointmentBody, PreviewBody } from '../../appointments/contract.ts';
import type { WriteResponse } from '../../writes/write-kind.ts';
import { conditionOf, keyOfOther } from '../conditions.ts';
import { appointmentNames } from '../directory.ts';
import { accessOf, baseOf } from '../face.ts';
import { jsonMediaTypes } from '../interaction.ts';
import { allFine } from '../operation-outcome.ts';
import { etagOf, preferenceOf } from '../preferences.ts';
import { appointmentContent, toAppointment } from '../to-fhir/appointment.ts';
import { dataOf, readIdentifiers } from './identifiers.ts';

/** What the writes of Appointment have in common. Each is planned, made, stored and replayed as its native endpoint. */
export const appointmentWrite = { type: 'Appointment', scopes: ['appointments:write'], audit: oneRecord } as const;

/** How they are keyed and shown. */
export const written = {
  consumes: jsonMediaTypes,
  keyOf: (request: FastifyRequest) => keyOfOther(request),
  show: (response: WriteResponse, request: FastifyRequest) => showWritten(response, request),
};

/**
 * Shows what a write has made, new or stored, with what its plan has read. It asks the EHR nothing: the write is made, and the
 * EHR may hang.
 *
 * @param pendingStatus 202: nobody has agreed yet
 */
export async function showWritten(
  { body, status = 200, headers = {} }: WriteResponse,
  request: FastifyRequest,
  pendingStatus = 202,
): Promise<Shown> {
  const native = body as AppointmentBody | PreviewBody;
  const named = appointmentNames(accessOf(request), request.directory);
  if (native.id === null || 'change' in native) return { status: 200, body: appointmentContent(native, named) };
  const made = native as AppointmentBody;
  const isPending = made.confirmation !== null;
  // The write is made, and is shown without them if they cannot be read.
  await readIdentifiers(dataOf(request), named, [made]).catch(() => undefined);
  const appointment = toAppointment(made, named);
  const condition = conditionOf(request, 'Appointment');
  const { location: _, ...others } = headers;
  // 200: the Appointment exists, as `If-None-Exist` asks.
  const shown = { status: condition && isReplayed(headers) ? 200 : isPending ? pendingStatus : status };
  // It has an id that FHIR cannot name: it is written all the same.
  if (!appointment) return { ...shown, headers: others, body: appointmentContent(made, named) };
  const versionId = appointment.meta?.versionId;
  const url = `${baseOf(request)}/Appointment/${appointment.id}/_history/${versionId}`;
  return {
    ...shown,
    headers: { ...others, etag: etagOf(versionId), ...(status === 201 ? { location: url } : {}), ...expiryOf(made) },
    ...preferred(request, isPending, appointment),
  };
}

/** The end of a hold, as Argonaut shows it. */
function expiryOf({ confirmation }: AppointmentBody): Record<string, string> {
  return confirmation ? { expires: new Date(confirmation.expires_at).toUTCString() } : {};
}

/** https://hl7.org/fhir/R4/http.html#ops. That a code is awaited is said in any case. */
function preferred(request: FastifyRequest, isPending: boolean, appointment: Appointment): Pick<Shown, 'body'> {
  switch (preferenceOf(request, 'return')) {
    case 'minimal':
      return isPending ? { body: appointment } : {};
    case 'OperationOutcome':
      return { body: allFine(`The Appointment is ${appointment.status}.`, request.lost) };
    default:
      return { body: appointment };
  }
}
