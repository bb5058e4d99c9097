import type { Patient } from '@crossward/connector-kit';
import type { Static } from 'typebox';
import { patientIdentifier, resourceIdentifier } from '../api/identifiers.ts';
import { assertNotPast, assertOffsetsOf, readRange } from '../api/request-times.ts';
import { makeGatewayId } from '../confirmations/items.ts';
import { requireHealthcareService, requirePatient, requireResource } from '../ehr/lookups.ts';
import type { ReadHeader } from '../identifiers/index.ts';
import { inBody } from '../problems/places.ts';
import { Problem } from '../problems/problem.ts';
import { contactable, contactOf } from './contact.ts';
import type { appointmentCreationSchema } from './contract.ts';
import type { RequestContext } from './request-context.ts';
import { readComment, readPatientDetails, readReturnUrl } from './sent-details.ts';
import {
  type AppointmentPlan,
  draftAppointment,
  longestAppointmentHours,
  type PlannedCreation,
  type Step,
  slotFault,
} from './write/plan.ts';

const creationPlaces = { start: inBody('start_time'), end: inBody('end_time') };

/** Books, or holds until the code is confirmed. The EHR decides whether the time is free. */
export async function planCreation(
  context: RequestContext,
  body: Static<typeof appointmentCreationSchema>,
  readHeader: ReadHeader,
): Promise<AppointmentPlan> {
  const { client, ehr, careUnit } = context;
  const returnUrl = readReturnUrl(body.return_url, client);
  const text = { start: body.start_time, end: body.end_time };
  assertOffsetsOf(careUnit.timeZone, text, creationPlaces);
  const range = readRange(text, creationPlaces, careUnit.timeZone, longestAppointmentHours);
  assertNotPast(range.start, creationPlaces.start);
  const patientDetails = readPatientDetails(ehr, body.patient_details);
  const comment = readComment(ehr, body.comment) ?? null;
  const patientPlace = inBody('patient_id');
  const resourcePlace = inBody('resource_id');
  const servicePlace = inBody('healthcare_service_id');
  const patientId = patientIdentifier(body.patient_id, patientPlace, ehr, readHeader);
  const resourceId = resourceIdentifier(body.resource_id, resourcePlace, ehr, readHeader);
  const intended = { careUnit, resource: resourceId, healthcareServiceId: body.healthcare_service_id, ...range };
  const patient = await requirePatient(ehr, patientId, patientPlace, intended);
  const resource = await requireResource(ehr, careUnit, resourceId, resourcePlace);
  const serviceId = body.healthcare_service_id;
  const service = await requireHealthcareService(ehr, careUnit, serviceId, servicePlace, patient.id);
  const requested = {
    patientId: patient.id,
    resourceId: resource.id,
    healthcareServiceId: service.id,
    ...range,
    comment,
    ...(patientDetails && { patientDetails }),
  };
  return planCreations(context, patient, [requested], returnUrl);
}

type NewAppointment = Omit<PlannedCreation, 'kind' | 'hold'>;

/** Plans new appointments of one patient, with the same details, by the policy of the care unit and the capabilities of the EHR. */
export function planCreations(
  context: RequestContext,
  patient: Pick<Patient, 'id' | 'phone' | 'email' | 'isInactive'>,
  requested: readonly NewAppointment[],
  returnUrl?: string,
): AppointmentPlan {
  const { services, ehr, careUnit } = context;
  if (!ehr.capabilities.changes.includes('create')) throw new Problem('operation_unsupported');
  if (patient.isInactive) throw new Problem('patient_inactive');
  const needsCode = careUnit.bookingConfirmation === 'code';
  const details = requested[0]?.patientDetails;
  const contact = needsCode
    ? contactOf(contactable(patient, details), 'booking', careUnit, services.channels)
    : undefined;
  const about = { patientId: patient.id, ...(details && { patientDetails: details }) };
  const code = contact && { kind: 'booking' as const, ...about, ...contact, returnUrl };
  const canHold = ehr.capabilities.changes.includes('confirm');
  return {
    steps: requested.map((it): Step => {
      const creation = { ...it, kind: 'create', hold: needsCode } as const;
      const faultIfTaken = slotFault(creation, careUnit.timeZone, creationPlaces.start);
      if (!code || canHold) {
        const appointment = draftAppointment(creation, '', careUnit.id, needsCode ? 'held' : 'booked');
        return {
          change: creation,
          faultIfTaken,
          response: { appointment, word: 'created' },
          ...(code ? { awaits: code } : {}),
        };
      }
      const newId = makeGatewayId();
      const appointment = draftAppointment(creation, newId, careUnit.id, 'held');
      const { patientDetails: _, ...booking } = creation;
      const draft = { ...booking, hold: false };
      return { faultIfTaken, response: { appointment, id: newId, word: 'created' }, awaits: { ...code, newId, draft } };
    }),
    many: false,
  };
}
