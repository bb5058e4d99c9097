import type { FastifyInstance } from 'fastify';
import type { Static } from 'typebox';
import type { Cursors } from '../http/paging.ts';
import { addOperation } from '../http/route.ts';
import { ehrReadReasons, ehrWriteReasons, identifierReasons } from '../http/route-reasons.ts';
import { reference, text } from '../http/schemas.ts';
import { cancelAppointment, requireAppointment, updateAppointment } from './change-appointment.ts';
import {
  appointmentCancellationSchema,
  appointmentChangeSchema,
  appointmentCreationSchema,
  appointmentListSchema,
  appointmentQuery,
  appointmentSchema,
  appointmentUpdateSchema,
} from './contract.ts';
import { createAppointment } from './create-appointment.ts';
import { listAppointments } from './list-appointments.ts';
import { appointmentBody } from './representation.ts';

const place = { emr: 'sandbox-no', care_unit_id: 'oslo-sentrum' };
const example = {
  id: '7d0c2a4e-6f52-4a5e-9d0b-3f2f8f7a1c55',
  status: 'booked',
  start: '2027-03-19T09:00:00+01:00',
  end: '2027-03-19T09:30:00+01:00',
  comment: null,
  patient_id: 'emr_id:p-3',
  resource_id: 'emr_id:r-1',
  healthcare_service_id: 'consultation',
  emr: 'sandbox-no',
  care_unit_id: 'oslo-sentrum',
  confirmation: null,
  replaces_id: null,
  supersedes_id: null,
};
const appointmentId = { appointment_id: text({ description: 'Appointment identifier.' }) };

export function addAppointmentRoutes(app: FastifyInstance, { cursors }: { cursors: Cursors }): void {
  for (const schema of [
    appointmentSchema,
    appointmentCreationSchema,
    appointmentUpdateSchema,
    appointmentCancellationSchema,
  ]) {
    app.addSchema(schema);
  }

  addOperation(app, {
    operationId: 'list_appointments',
    tag: 'Appointments',
    summary: 'Get Appointments',
    description: '`patient_id`, `resource_id`, or both `start` and `end` must be there.',
    level: 'care_unit',
    method: 'GET',
    path: '/appointments',
    scopes: ['appointments:read'],
    query: appointmentQuery,
    answer: { status: 200, description: 'Appointments, by start, then id.', schema: appointmentListSchema },
    reasons: [
      'time_range_invalid',
      'local_time_nonexistent',
      'cursor_invalid',
      ...identifierReasons,
      ...ehrReadReasons,
    ],
    reasonsOfNames: ['patient_not_found', 'resource_not_found'],
    examples: {
      params: place,
      query: { patient_id: 'header:x-patient', status: ['booked'] },
      answer: { appointments: [example], next_cursor: null },
    },
    async handle({ query, readHeader, ...access }) {
      const { entries, next_cursor } = await listAppointments(access, query, readHeader, cursors);
      const appointments = entries.map((it) => appointmentBody(it, access.ehr, access.careUnit));
      return { body: { appointments, next_cursor } };
    },
  });

  addOperation(app, {
    operationId: 'create_appointment',
    tag: 'Appointments',
    summary: 'Create Appointment',
    description: 'A booking starts where a free time slot starts, ends where one ends, and has no gap between.',
    level: 'care_unit',
    method: 'POST',
    path: '/appointments',
    scopes: ['appointments:write'],
    body: reference<Static<typeof appointmentCreationSchema>>('AppointmentCreation'),
    answer: { status: 201, description: 'The appointment.', schema: appointmentSchema },
    reasons: [
      'time_slot_unavailable',
      'time_range_invalid',
      'local_time_nonexistent',
      ...identifierReasons,
      ...ehrWriteReasons,
    ],
    reasonsOfNames: ['patient_not_found', 'resource_not_found', 'healthcare_service_not_found'],
    examples: {
      params: place,
      body: {
        patient_id: 'p-3',
        resource_id: 'r-1',
        healthcare_service_id: 'consultation',
        start_time: '2027-03-19T09:00:00',
        end_time: '2027-03-19T09:30:00',
      },
      answer: example,
    },
    async handle({ body, readHeader, ...access }) {
      const appointment = await createAppointment(access, body, readHeader);
      const { ehr, careUnit } = access;
      const location = ['', 'api', 'emrs', ehr.id, 'care-units', careUnit.id, 'appointments', appointment.id]
        .map(encodeURIComponent)
        .join('/');
      return { body: appointmentBody(appointment, ehr, careUnit), headers: { location } };
    },
  });

  addOperation(app, {
    operationId: 'get_appointment',
    tag: 'Appointments',
    summary: 'Get one appointment',
    level: 'care_unit',
    method: 'GET',
    path: '/appointments/:appointment_id',
    scopes: ['appointments:read'],
    params: appointmentId,
    answer: { status: 200, description: 'The appointment.', schema: appointmentSchema },
    reasons: ['appointment_not_found', ...ehrReadReasons],
    examples: { params: { ...place, appointment_id: example.id }, answer: example },
    async handle({ params, ...access }) {
      const appointment = await requireAppointment(access, params.appointment_id);
      return { body: appointmentBody(appointment, access.ehr, access.careUnit) };
    },
  });

  addOperation(app, {
    operationId: 'change_appointment',
    tag: 'Appointments',
    summary: 'Update or cancel one appointment',
    description: "The body is exactly one of update and cancel. The appointment's own time counts as free.",
    level: 'care_unit',
    method: 'PATCH',
    path: '/appointments/:appointment_id',
    scopes: ['appointments:write'],
    params: appointmentId,
    body: appointmentChangeSchema,
    answer: { status: 200, description: 'The appointment.', schema: appointmentSchema },
    reasons: [
      'appointment_not_found',
      'appointment_cancelled',
      'appointment_awaiting_confirmation',
      'time_slot_unavailable',
      'time_range_invalid',
      'local_time_nonexistent',
      ...identifierReasons,
      ...ehrWriteReasons,
    ],
    reasonsOfNames: ['resource_not_found'],
    examples: {
      params: { ...place, appointment_id: example.id },
      body: { start: '2027-03-19T10:00:00+01:00', end: '2027-03-19T10:30:00+01:00' },
      answer: { ...example, start: '2027-03-19T10:00:00+01:00', end: '2027-03-19T10:30:00+01:00' },
    },
    async handle({ params, body, readHeader, ...access }) {
      const appointment =
        'status' in body
          ? await cancelAppointment(access, params.appointment_id, body)
          : await updateAppointment(access, params.appointment_id, body, readHeader);
      return { body: appointmentBody(appointment, access.ehr, access.careUnit) };
    },
  });
}
