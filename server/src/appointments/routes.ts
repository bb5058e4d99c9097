import type { FastifyInstance } from 'fastify';
import type { Static } from 'typebox';
import type { Cursors } from '../api/paging.ts';
import { addOperation } from '../api/route.ts';
import { ehrReadReasons, ehrWriteReasons, identifierReasons } from '../api/route-reasons.ts';
import { reference, text } from '../api/schemas.ts';
import type { OperationServices } from '../operations/services.ts';
import type { Reason } from '../problems/reasons.ts';
import { changeMany, changeOne, create } from './change.ts';
import {
  type AppointmentBody,
  appointmentCancellationSchema,
  appointmentChangeSchema,
  appointmentConfirmationSchema,
  appointmentCreationSchema,
  appointmentListSchema,
  appointmentQuery,
  appointmentSchema,
  appointmentsSchema,
  appointmentUpdateSchema,
  bulkCancellationSchema,
  bulkChangeSchema,
  bulkConfirmationSchema,
  bulkUpdateSchema,
  confirmationSchema,
  dryRunQuery,
  type PreviewBody,
  previewSchema,
  previewsSchema,
} from './contract.ts';
import { listAppointments } from './list-appointments.ts';
import { appointmentBody } from './representation.ts';
import { resend } from './resend-code.ts';
import { requireTarget } from './targets.ts';

const place = { emr: 'sandbox-no', care_unit_id: 'oslo-sentrum' };
const example: AppointmentBody = {
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
const awaitingExample: AppointmentBody = {
  ...example,
  status: 'awaiting_confirmation',
  emr: 'sandbox-se',
  care_unit_id: 'sodermalm',
  confirmation: {
    id: '3b9f3c1e-5f0b-4f57-8f6a-0e4d9c1f2a77',
    kind: 'booking',
    channel: 'sms',
    delivery: 'queued',
    expires_at: '2027-03-12T14:10:00+01:00',
    attempts_remaining: 5,
    page_url: null,
  },
};
const appointmentId = { appointment_id: text({ description: 'Appointment identifier.' }) };
const timeReasons = [
  'time_slot_unavailable',
  'time_range_invalid',
  'local_time_nonexistent',
] as const satisfies Reason[];
const codeReasons = [
  'confirmation_code_incorrect',
  'confirmation_expired',
  'confirmation_locked',
  'confirmation_not_pending',
] as const satisfies Reason[];
const stateReasons = [
  'appointment_cancelled',
  'appointment_awaiting_confirmation',
  'appointment_started',
] as const satisfies Reason[];

interface Dependencies {
  readonly cursors: Cursors;
  readonly services: OperationServices;
}

export function addAppointmentRoutes(app: FastifyInstance, { cursors, services }: Dependencies): void {
  for (const schema of [
    confirmationSchema,
    appointmentSchema,
    previewSchema,
    appointmentCreationSchema,
    appointmentUpdateSchema,
    appointmentCancellationSchema,
    appointmentConfirmationSchema,
    bulkUpdateSchema,
    bulkCancellationSchema,
    bulkConfirmationSchema,
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
      query: { patient_id: 'emr_id:p-3', status: ['booked'] },
      answer: { appointments: [example], next_cursor: null },
    },
    async handle({ query, readHeader, ...access }) {
      const { entries, next_cursor } = await listAppointments({ ...access, services }, query, readHeader, cursors);
      const appointments = entries.map(({ id, appointment, item }) =>
        appointmentBody(appointment, access, { id, item }),
      );
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
    query: dryRunQuery,
    body: reference<Static<typeof appointmentCreationSchema>>('AppointmentCreation'),
    answer: { status: 201, description: 'The appointment.', schema: appointmentSchema },
    preview: reference<PreviewBody>('AppointmentPreview'),
    reasons: [...timeReasons, ...identifierReasons, ...ehrWriteReasons],
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
    handle: ({ body, query, readHeader, execute, ...access }) =>
      create({ ...access, services }, { execute, dryRun: query.dry_run }, body, readHeader),
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
      const { id, appointment, item } = await requireTarget({ ...access, services }, params.appointment_id);
      return { body: appointmentBody(appointment, access, { id, item }) };
    },
  });

  addOperation(app, {
    operationId: 'change_appointment',
    tag: 'Appointments',
    summary: 'Update, cancel or confirm one appointment',
    description:
      "The body is exactly one of update, cancel and confirm. The appointment's own time counts as free. An update never needs a code. Only the client that started a confirmation can confirm it: to any other, nothing is pending. A second cancel while its code is awaited answers the same new id and sends nothing.",
    level: 'care_unit',
    method: 'PATCH',
    path: '/appointments/:appointment_id',
    scopes: ['appointments:write'],
    params: appointmentId,
    query: dryRunQuery,
    body: appointmentChangeSchema,
    answer: { status: 200, description: 'The appointment.', schema: appointmentSchema },
    preview: reference<PreviewBody>('AppointmentPreview'),
    reasons: [
      'appointment_not_found',
      ...stateReasons,
      ...codeReasons,
      ...timeReasons,
      ...identifierReasons,
      ...ehrWriteReasons,
    ],
    reasonsOfNames: ['resource_not_found'],
    examples: {
      params: { ...place, appointment_id: example.id },
      body: { start: '2027-03-19T10:00:00+01:00', end: '2027-03-19T10:30:00+01:00' },
      answer: { ...example, start: '2027-03-19T10:00:00+01:00', end: '2027-03-19T10:30:00+01:00' },
    },
    handle: ({ params, query, body, readHeader, execute, ...access }) =>
      changeOne({ ...access, services }, { execute, dryRun: query.dry_run }, params.appointment_id, body, readHeader),
  });

  addOperation(app, {
    operationId: 'change_appointments',
    tag: 'Appointments',
    summary: 'Update, cancel or confirm many appointments',
    description:
      'All or nothing. With `start` and `end` it is a continuous reschedule: the ids are fitted into the time slots of the range, which makes or cancels appointments where the range is longer or shorter. The ids of a confirm await the same code, which this client asked for. While any of them awaits it, every wrong code counts, whichever id it is sent to.',
    level: 'care_unit',
    method: 'PATCH',
    path: '/appointments',
    scopes: ['appointments:write'],
    query: dryRunQuery,
    body: bulkChangeSchema,
    answer: {
      status: 200,
      description: 'In the order of `ids`; a continuous reschedule: by start, then the cancelled ones by start.',
      schema: appointmentsSchema,
    },
    preview: previewsSchema,
    reasons: [
      ...stateReasons,
      ...codeReasons,
      ...timeReasons,
      'appointments_not_alike',
      'confirmations_differ',
      'partially_applied',
      ...identifierReasons,
      ...ehrWriteReasons,
    ],
    reasonsOfNames: ['appointment_not_found', 'resource_not_found', 'patient_not_found'],
    examples: {
      params: place,
      body: { ids: [example.id], resource_id: 'r-2' },
      answer: { appointments: [{ ...example, resource_id: 'emr_id:r-2' }] },
    },
    handle: ({ query, body, readHeader, execute, ...access }) =>
      changeMany({ ...access, services }, { execute, dryRun: query.dry_run }, body, readHeader),
  });

  addOperation(app, {
    operationId: 'resend_confirmation',
    tag: 'Appointments',
    summary: 'Send a fresh code',
    description:
      'For everything that awaits the same code as this id. Only for the client that started the confirmation. The old code dies, the lifetime starts anew, the attempts do not. At most three codes in all, 30 seconds apart.',
    level: 'care_unit',
    method: 'POST',
    path: '/appointments/:appointment_id/confirmation',
    scopes: ['appointments:write'],
    params: appointmentId,
    answer: { status: 202, description: 'The appointment.', schema: appointmentSchema },
    reasons: [
      'appointment_not_found',
      'confirmation_expired',
      'confirmation_locked',
      'confirmation_not_pending',
      'resend_limit_reached',
      ...ehrWriteReasons,
    ],
    examples: {
      params: { emr: 'sandbox-se', care_unit_id: 'sodermalm', appointment_id: example.id },
      answer: awaitingExample,
    },
    handle: ({ params, execute, ...access }) => resend({ ...access, services }, execute, params.appointment_id),
  });
}
