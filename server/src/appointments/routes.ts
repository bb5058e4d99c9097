import type { Static } from 'typebox';
import { oneRecord, recordsIn } from '../api/audit-request.ts';
import { type EndpointGroup, endpoint } from '../api/endpoint.ts';
import { ehrReadReasons, ehrWriteReasons, identifierReasons } from '../api/route-reasons.ts';
import { reference, text } from '../api/schemas.ts';
import { problemAt } from '../problems/problem.ts';
import type { Reason } from '../problems/reasons.ts';
import { asWrite } from './as-write.ts';
import {
  type AppointmentBody,
  type AppointmentConfirmationBody,
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
  confirmationPreviewSchema,
  confirmationSchema,
  dryRunQuery,
  type PreviewBody,
  patientDetailsSchema,
  previewSchema,
  previewsSchema,
} from './contract.ts';
import { pageOfAppointments } from './list-appointments.ts';
import { planChange, planChanges } from './plan-change.ts';
import { planCreation } from './plan-creation.ts';
import { appointmentBody } from './representation.ts';
import { planResend } from './resend/plan.ts';
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
  attendance: null,
  modality: null,
  notice: null,
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
    page_url: 'https://appointments.example.org/c/h8Vt3fKq0ZbR1yWm5LxNcD7e',
  },
};
const appointmentId = { appointment_id: text({ description: 'Id of the appointment.' }) };
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
  'appointment_changed',
  'change_not_allowed',
] as const satisfies Reason[];

export const listAppointments = endpoint({
  operationId: 'list_appointments',
  tag: 'Appointments',
  summary: 'List appointments',
  description: 'Requires `patient_id`, `resource_id`, or both `start` and `end`.',
  level: 'care_unit',
  method: 'GET',
  path: '/appointments',
  needs: ['listAppointments'],
  audit: recordsIn('appointments'),
  scopes: ['appointments:read'],
  query: appointmentQuery,
  response: { status: 200, description: 'Appointments, sorted by start, then id.', schema: appointmentListSchema },
  reasons: [
    'time_range_invalid',
    'local_time_nonexistent',
    'cursor_invalid',
    'patient_ambiguous',
    ...identifierReasons,
    ...ehrReadReasons,
  ],
  reasonsOfNames: ['patient_not_found', 'resource_not_found'],
  examples: {
    params: place,
    query: { patient_id: 'emr_id:p-3', status: ['booked'] },
    response: { appointments: [example], next_cursor: null },
  },
  async handle({ query, readHeader, ...access }) {
    const { entries, next_cursor } = await pageOfAppointments(access, query, readHeader);
    const appointments = entries.map(({ id, appointment, item }) => appointmentBody(appointment, access, { id, item }));
    return { body: { appointments, next_cursor } };
  },
});

export const createAppointment = endpoint({
  operationId: 'create_appointment',
  tag: 'Appointments',
  summary: 'Create an appointment',
  description:
    'Books one or more consecutive free time slots: the appointment must start where a free slot starts, end where one ends, and contain no gap. If the care unit requires a code for bookings, the appointment is `awaiting_confirmation` until the code is confirmed.',
  level: 'care_unit',
  method: 'POST',
  path: '/appointments',
  needs: ['patients', 'findResource', 'listHealthcareServices', 'changeAppointments', 'create'],
  audit: oneRecord,
  scopes: ['appointments:write'],
  query: dryRunQuery,
  body: reference<Static<typeof appointmentCreationSchema>>('AppointmentCreation'),
  response: { status: 201, description: 'The appointment.', schema: appointmentSchema },
  preview: reference<PreviewBody>('AppointmentPreview'),
  reasons: [...timeReasons, 'return_url_not_allowed', 'patient_ambiguous', ...identifierReasons, ...ehrWriteReasons],
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
    response: example,
  },
  async plan({ body, readHeader, ...access }) {
    return asWrite(access, await planCreation(access, body, readHeader));
  },
});

export const getAppointment = endpoint({
  operationId: 'get_appointment',
  tag: 'Appointments',
  summary: 'Get an appointment',
  level: 'care_unit',
  method: 'GET',
  path: '/appointments/:appointment_id',
  needs: ['findAppointments'],
  audit: oneRecord,
  scopes: ['appointments:read'],
  params: appointmentId,
  response: { status: 200, description: 'The appointment.', schema: appointmentSchema },
  reasons: ['appointment_not_found', ...ehrReadReasons],
  examples: { params: { ...place, appointment_id: example.id }, response: example },
  async handle({ params, ...access }) {
    const { id, appointment, item } = await requireTarget(access, params.appointment_id);
    return { body: appointmentBody(appointment, access, { id, item }) };
  },
});

export const changeAppointment = endpoint({
  operationId: 'change_appointment',
  tag: 'Appointments',
  summary: 'Change an appointment',
  description:
    'The body is exactly one of update, cancel and confirm. When an appointment is moved, its own current time counts as free. In an EHR that cannot move appointments, the gateway books the new time and cancels the former appointment: the response then has a new `id`, and the former one in `supersedes_id`. An update never needs a code. Only the client that started a confirmation can confirm it; other clients get `confirmation_not_pending`. Cancelling again while a cancellation code is pending returns the same new id and sends no message.',
  level: 'care_unit',
  method: 'PATCH',
  path: '/appointments/:appointment_id',
  parts: {
    update_appointment: ['findAppointments', 'changeAppointments', 'update'],
    cancel_appointment: ['findAppointments', 'changeAppointments', 'cancel'],
  },
  audit: oneRecord,
  scopes: ['appointments:write'],
  params: appointmentId,
  query: dryRunQuery,
  body: appointmentChangeSchema,
  response: { status: 200, description: 'The appointment.', schema: appointmentSchema },
  preview: reference<PreviewBody>('AppointmentPreview'),
  reasons: [
    'appointment_not_found',
    ...stateReasons,
    ...codeReasons,
    ...timeReasons,
    'return_url_not_allowed',
    ...identifierReasons,
    ...ehrWriteReasons,
  ],
  reasonsOfNames: ['resource_not_found'],
  examples: {
    params: { ...place, appointment_id: example.id },
    body: { start: '2027-03-19T10:00:00+01:00', end: '2027-03-19T10:30:00+01:00' },
    response: { ...example, start: '2027-03-19T10:00:00+01:00', end: '2027-03-19T10:30:00+01:00' },
  },
  async plan({ params, query, body, readHeader, ...access }) {
    const code = codeIn(body, query);
    return asWrite(access, await planChange(access, params.appointment_id, body, readHeader), code);
  },
});

const changeAppointments = endpoint({
  operationId: 'change_appointments',
  tag: 'Appointments',
  summary: 'Change several appointments',
  description:
    'Applies to all appointments or to none. An update with `start` and `end` is a continuous reschedule: the appointments are placed in the consecutive time slots of the range. A longer range creates additional appointments; a shorter one cancels the last ones. A confirm requires that all ids await the same code and that this client started the confirmation. Every incorrect code counts as an attempt while any of the ids awaits the code.',
  level: 'care_unit',
  method: 'PATCH',
  path: '/appointments',
  parts: {
    reschedule_appointments: ['findAppointments', 'listTimeSlots', 'changeAppointments', 'create', 'update', 'cancel'],
  },
  audit: recordsIn('appointments'),
  scopes: ['appointments:write'],
  query: dryRunQuery,
  body: bulkChangeSchema,
  response: {
    status: 200,
    description:
      'The appointments in the order of `ids`. After a continuous reschedule: sorted by start, followed by the cancelled ones, sorted by start.',
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
    'return_url_not_allowed',
    ...identifierReasons,
    ...ehrWriteReasons,
  ],
  reasonsOfNames: ['appointment_not_found', 'resource_not_found', 'patient_not_found'],
  examples: {
    params: place,
    body: { ids: [example.id], resource_id: 'r-2' },
    response: { appointments: [{ ...example, resource_id: 'emr_id:r-2' }] },
  },
  async plan({ query, body, readHeader, ...access }) {
    const code = codeIn(body, query);
    return asWrite(access, await planChanges(access, body, readHeader), code);
  },
});

export const resendConfirmation = endpoint({
  operationId: 'resend_confirmation',
  tag: 'Appointments',
  summary: 'Send a new code',
  description:
    'Sends a new code for all appointments that await the same code as this one. Only the client that started the confirmation can do this. The previous code becomes invalid and the expiry time is reset; the remaining attempts are not. A confirmation can have at most three codes, sent at least 30 seconds apart.',
  level: 'care_unit',
  method: 'POST',
  path: '/appointments/:appointment_id/confirmation',
  audit: oneRecord,
  scopes: ['appointments:write'],
  params: appointmentId,
  response: { status: 202, description: 'The appointment.', schema: appointmentSchema },
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
    response: awaitingExample,
  },
  plan: ({ params, ...access }) => planResend(access, params.appointment_id),
});

export const appointmentEndpoints: EndpointGroup = {
  schemas: [
    confirmationSchema,
    confirmationPreviewSchema,
    appointmentSchema,
    previewSchema,
    patientDetailsSchema,
    appointmentCreationSchema,
    appointmentUpdateSchema,
    appointmentCancellationSchema,
    appointmentConfirmationSchema,
    bulkUpdateSchema,
    bulkCancellationSchema,
    bulkConfirmationSchema,
  ],
  endpoints: [
    listAppointments,
    createAppointment,
    getAppointment,
    changeAppointment,
    changeAppointments,
    resendConfirmation,
  ],
};

/** The code that a confirmation enters. @throws Problem `request_invalid` in a dry run: its outcome would tell the code */
function codeIn(body: object, query: { readonly dry_run?: boolean }): string | undefined {
  if (!('confirmation' in body)) return undefined;
  const detail = 'A confirmation does not support `dry_run`.';
  if (query.dry_run) throw problemAt({ in: 'query', parameter: 'dry_run' }, 'request_invalid', detail);
  return (body as AppointmentConfirmationBody).confirmation.code;
}
