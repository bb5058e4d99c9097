import { randomUUID } from 'node:crypto';
import type { Appointment } from '@crossward/connector-kit';
import { requireResource } from '../ehr/lookups.ts';
import { resourceIdentifier } from '../http/identifiers.ts';
import { inBody, inPath } from '../http/places.ts';
import type { Access } from '../http/route.ts';
import type { ReadHeader } from '../identifiers/index.ts';
import { Problem, problemAt } from '../problems/problem.ts';
import { assertNotPast, readRange } from '../time/request-times.ts';
import type { AppointmentCancellationBody, AppointmentUpdateBody } from './contract.ts';
import { longestAppointmentHours, whereTheTimeIs } from './time-rules.ts';

const places = { start: inBody('start'), end: inBody('end') };

/** @throws Problem `appointment_not_found` */
export async function requireAppointment({ ehr, careUnit }: Access, appointmentId: string): Promise<Appointment> {
  const appointment = await ehr.call('findAppointment', careUnit, appointmentId);
  if (!appointment) {
    throw problemAt(
      inPath('appointment_id'),
      'appointment_not_found',
      'The care unit has no appointment with this id.',
    );
  }
  return appointment;
}

/** Moves an appointment, gives it another resource or comment. It never needs a code. */
export async function updateAppointment(
  access: Access,
  appointmentId: string,
  body: AppointmentUpdateBody,
  readHeader: ReadHeader,
): Promise<Appointment> {
  const { ehr, careUnit } = access;
  const { start, end } = body;
  const time =
    start !== undefined && end !== undefined
      ? readRange({ start, end }, places, careUnit.timeZone, longestAppointmentHours)
      : undefined;
  const resourcePlace = inBody('resource_id');
  const resourceIdentity =
    body.resource_id === undefined ? undefined : resourceIdentifier(body.resource_id, resourcePlace, ehr, readHeader);
  const current = await requireAppointment(access, appointmentId);
  assertChangeable(current);
  const resource = resourceIdentity && (await requireResource(ehr, careUnit, resourceIdentity, resourcePlace));
  if (time && isNewTime(current, time)) assertNotPast(time, places.start);
  const wanted = {
    resourceId: resource?.id ?? current.resourceId,
    start: time?.start ?? current.start,
    end: time?.end ?? current.end,
    timeZone: careUnit.timeZone,
  };
  return whereTheTimeIs(wanted, time ? places.start : resourcePlace, () =>
    ehr.call('updateAppointment', {
      operationId: randomUUID(),
      careUnit,
      appointmentId,
      changes: {
        ...(time ? { time } : {}),
        ...(resource ? { resourceId: resource.id } : {}),
        ...(body.comment !== undefined ? { comment: body.comment || null } : {}),
      },
    }),
  );
}

/** Cancels directly. What is cancelled already stays as it is. */
export async function cancelAppointment(
  access: Access,
  appointmentId: string,
  body: AppointmentCancellationBody,
): Promise<Appointment> {
  const { ehr, careUnit } = access;
  const current = await requireAppointment(access, appointmentId);
  if (current.state === 'cancelled') return current;
  if (current.state === 'pending') throw new Problem('appointment_awaiting_confirmation');
  if (careUnit.cancellationConfirmation === 'code') {
    const detail = 'Cancelling in this EHR waits for a code, which is not offered.';
    throw new Problem('operation_unsupported', { detail });
  }
  return ehr.call('cancelAppointment', {
    operationId: randomUUID(),
    careUnit,
    appointmentId,
    comment: body.comment === undefined ? undefined : body.comment || null,
  });
}

function assertChangeable({ state }: Appointment): void {
  if (state === 'cancelled') throw new Problem('appointment_cancelled');
  if (state !== 'booked') throw new Problem('appointment_awaiting_confirmation');
}

function isNewTime(current: Appointment, time: { start: Date; end: Date }): boolean {
  return current.start.getTime() !== time.start.getTime() || current.end.getTime() !== time.end.getTime();
}
