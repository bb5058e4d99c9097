import { randomUUID } from 'node:crypto';
import type { Appointment } from '@crossward/connector-kit';
import type { Static } from 'typebox';
import { requireHealthcareService, requirePatient, requireResource } from '../ehr/lookups.ts';
import { patientIdentifier, resourceIdentifier } from '../http/identifiers.ts';
import { inBody } from '../http/places.ts';
import type { Access } from '../http/route.ts';
import type { ReadHeader } from '../identifiers/index.ts';
import { Problem } from '../problems/problem.ts';
import { assertNotPast, readRange } from '../time/request-times.ts';
import type { appointmentCreationSchema } from './contract.ts';
import { longestAppointmentHours, whereTheTimeIs } from './time-rules.ts';

const places = { start: inBody('start_time'), end: inBody('end_time') };

/** Books directly. The EHR itself decides whether the time is free: nothing is looked up first that could change. */
export async function createAppointment(
  { ehr, careUnit }: Access,
  body: Static<typeof appointmentCreationSchema>,
  readHeader: ReadHeader,
): Promise<Appointment> {
  if (careUnit.bookingConfirmation === 'code') {
    throw new Problem('operation_unsupported', {
      detail: 'Booking in this EHR waits for a code, which is not offered.',
    });
  }
  const text = { start: body.start_time, end: body.end_time };
  const range = readRange(text, places, careUnit.timeZone, longestAppointmentHours);
  assertNotPast(range, places.start);
  const patientPlace = inBody('patient_id');
  const resourcePlace = inBody('resource_id');
  const patientId = patientIdentifier(body.patient_id, patientPlace, ehr, readHeader);
  const resourceId = resourceIdentifier(body.resource_id, resourcePlace, ehr, readHeader);
  const patient = await requirePatient(ehr, patientId, patientPlace);
  const resource = await requireResource(ehr, careUnit, resourceId, resourcePlace);
  const service = await requireHealthcareService(
    ehr,
    careUnit,
    body.healthcare_service_id,
    inBody('healthcare_service_id'),
  );
  return whereTheTimeIs({ resourceId: resource.id, ...range, timeZone: careUnit.timeZone }, places.start, () =>
    ehr.call('createAppointment', {
      operationId: randomUUID(),
      careUnit,
      patientId: patient.id,
      resourceId: resource.id,
      healthcareServiceId: service.id,
      ...range,
      comment: body.comment || null,
    }),
  );
}
