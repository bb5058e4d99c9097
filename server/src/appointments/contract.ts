import Type, { type Static } from 'typebox';
import { nextCursor, pagingQuery } from '../api/paging.ts';
import {
  attendance,
  choice,
  dateTime,
  emrId,
  modality,
  nullableChoice,
  nullableEmrId,
  nullableString,
  patientNotation,
  reference,
  resourceNotation,
  text,
} from '../api/schemas.ts';
import { deliveryStates } from '../messages/delivery-state.ts';
import { shownChanges } from './write/plan.ts';

export const appointmentStatuses = ['awaiting_confirmation', 'booked', 'cancelled'] as const;
export type AppointmentStatus = (typeof appointmentStatuses)[number];

const comment = text({ maxLength: 2000, description: 'Free text, up to 2,000 characters. `""` clears it.' });
const returnUrl = Type.Optional(
  text({
    maxLength: 2000,
    description:
      'Where the page at `confirmation.page_url` links back to. The link has `outcome` (`confirmed`, `cancelled` or `expired`) and `appointment_id` in its query. The operator allows the URLs of each client. Ignored if no code is required.',
  }),
);
const careUnitDateTime = (description: string) =>
  Type.String({
    format: 'care-unit-date-time',
    description: `${description} Local time of the care unit, \`YYYY-MM-DDThh:mm:ss\`. Can be followed by the care unit's offset at that time, as in the response of \`list_timeslots\`. Without it, a time that occurs twice means the first.`,
  });

const confirmationId =
  'Id of the confirmation. Appointments with the same confirmation id are confirmed by the same code.';
const confirmationFacts = {
  kind: choice(['booking', 'cancellation']),
  channel: choice(['sms', 'email']),
  attempts_remaining: Type.Integer({ description: 'Number of attempts left to enter the code.' }),
  page_url: nullableString({
    description:
      'Page where the patient can enter the code, request a new one, and cancel a booking. The same for all codes of the confirmation. Only the client that began the confirmation gets it, with `appointments:write`. Otherwise, and without such pages, null. Whoever has the link sees the time and place of the appointment, and can cancel an awaiting booking.',
  }),
};

export const confirmationSchema = Type.Object(
  {
    id: Type.String({ description: confirmationId }),
    ...confirmationFacts,
    delivery: choice(deliveryStates, {
      description:
        'Delivery status of the latest message. `queued`: it is being sent. `delayed`: it has not left within a minute, and the gateway keeps trying until the code expires. `sent`: the provider has accepted it. `delivered`: the provider reports that it has arrived; not every provider does. `failed`: it will not be sent, or the provider reports that it did not arrive.',
    }),
    expires_at: Type.String({ format: 'date-time' }),
  },
  { $id: 'Confirmation', description: 'A pending confirmation: a code was sent to the patient and has to be entered.' },
);

const appointmentFacts = {
  status: choice(appointmentStatuses),
  start: Type.String({ format: 'date-time', description: "RFC 3339, with the care unit's UTC offset." }),
  end: nullableString({
    format: 'date-time',
    description: "RFC 3339, with the care unit's UTC offset. Null if the EHR does not say when the appointment ends.",
  }),
  comment: nullableString(),
  patient_id: emrId,
  resource_id: nullableEmrId('Null if the EHR names no resource of the care unit.'),
  resource_name: Type.Optional(
    nullableString({
      description:
        'The name that the EHR shows for the resource in the appointment. Null if it shows none: `resource_id` tells more.',
    }),
  ),
  healthcare_service_id: nullableString({
    description: 'Null if the EHR names none of the healthcare services of the care unit.',
  }),
  emr: Type.String(),
  care_unit_id: Type.String(),
  replaces_id: nullableString({
    description: 'Id of the original appointment, if this id was created by a two-step cancellation.',
  }),
  supersedes_id: nullableString({
    description:
      'Former id, if the EHR cannot move appointments, and this one was booked to move another. Shown for good.',
  }),
  // Not in responses that an earlier version has stored: a retry repeats them.
  attendance: Type.Optional(attendance),
  modality,
  notice: nullableString({
    description:
      'What the EHR asks to tell the patient about this change, such as to come fasting. Only in the response of the write, and in its replay; null otherwise.',
  }),
};

export const appointmentSchema = Type.Object(
  {
    id: Type.String(),
    ...appointmentFacts,
    confirmation: Type.Union([reference<Static<typeof confirmationSchema>>('Confirmation'), Type.Null()]),
  },
  { $id: 'Appointment', description: 'An appointment of one patient with one resource.' },
);
export type AppointmentBody = Static<typeof appointmentSchema>;

export const confirmationPreviewSchema = Type.Object(
  {
    id: nullableString({ description: 'Null if it would be created.' }),
    ...confirmationFacts,
    delivery: nullableChoice(deliveryStates),
    expires_at: nullableString({ format: 'date-time' }),
  },
  { $id: 'ConfirmationPreview', description: 'A confirmation as it would be after the request.' },
);

/** The response to a dry run. */
export const previewSchema = Type.Object(
  {
    id: nullableString({ description: 'Null if it would be created.' }),
    ...appointmentFacts,
    confirmation: Type.Union([reference<Static<typeof confirmationPreviewSchema>>('ConfirmationPreview'), Type.Null()]),
    change: choice(shownChanges, { description: 'How the request would change the appointment.' }),
  },
  { $id: 'AppointmentPreview', description: 'An appointment as it would be after the request.' },
);
export type PreviewBody = Static<typeof previewSchema>;

export const appointmentsSchema = Type.Object({ appointments: Type.Array(reference<AppointmentBody>('Appointment')) });
export const previewsSchema = Type.Object({ appointments: Type.Array(reference<PreviewBody>('AppointmentPreview')) });

export const dryRunQuery = {
  dry_run: Type.Optional(
    Type.Boolean({
      default: false,
      description:
        'Validates the request and returns a preview with status 200. Changes nothing and sends no messages.',
    }),
  ),
};

export const appointmentListSchema = Type.Object({
  appointments: Type.Array(reference('Appointment')),
  next_cursor: nextCursor,
});

export const appointmentQuery = {
  patient_id: Type.Optional(patientNotation()),
  resource_id: Type.Optional(resourceNotation()),
  start: Type.Optional(dateTime('Start of the range; requires `end`. Returns appointments that overlap the range.')),
  end: Type.Optional(dateTime('End of the range; requires `start`.')),
  status: Type.Optional(
    Type.Array(choice(appointmentStatuses), {
      description: 'Status of the appointments. Can be repeated. Defaults to all.',
    }),
  ),
  ...pagingQuery,
};

/** What the EHR does not know about a patient whom it cannot look up. */
export const patientDetailsSchema = Type.Object(
  {
    given_name: Type.Optional(Type.String({ format: 'name', maxLength: 200 })),
    family_name: Type.Optional(Type.String({ format: 'name', maxLength: 200 })),
    phone: Type.Optional(
      Type.String({ format: 'phone-number', description: 'E.164, such as `+46701740605`. A code is sent to it.' }),
    ),
    email: Type.Optional(
      Type.String({ format: 'email-address', description: 'A code is sent to it if there is no `phone`.' }),
    ),
  },
  {
    $id: 'PatientDetails',
    additionalProperties: false,
    description:
      'What is known about the patient, for an EHR that takes it: `capabilities.patient_details` of the EHR. If that is `required`, both names must be sent. Stored encrypted, until the booking is confirmed.',
  },
);

export const appointmentCreationSchema = Type.Object(
  {
    patient_id: patientNotation(),
    resource_id: resourceNotation(),
    healthcare_service_id: text(),
    start_time: careUnitDateTime('Start of the appointment.'),
    end_time: careUnitDateTime('End of the appointment.'),
    comment: Type.Optional(comment),
    patient_details: Type.Optional(reference<Static<typeof patientDetailsSchema>>('PatientDetails')),
    return_url: returnUrl,
  },
  { $id: 'AppointmentCreation', additionalProperties: false },
);

const updateFields = {
  start: Type.Optional(dateTime('New start; requires `end`.')),
  end: Type.Optional(dateTime('New end; requires `start`.')),
  resource_id: Type.Optional(resourceNotation('New resource. ')),
  comment: Type.Optional(comment),
};
const together = { start: ['end'], end: ['start'] };
const cancellationFields = {
  status: Type.Literal('cancelled', { description: 'Cancels the appointment.' }),
  comment: Type.Optional(comment),
  return_url: returnUrl,
};
const confirmationFields = {
  confirmation: Type.Object(
    { code: text({ minLength: 1, maxLength: 100, description: 'The code that the patient received.' }) },
    { additionalProperties: false },
  ),
};
const ids = Type.Array(text({ minLength: 1, maxLength: 200 }), { minItems: 1, maxItems: 100, uniqueItems: true });

export const appointmentUpdateSchema = Type.Object(updateFields, {
  $id: 'AppointmentUpdate',
  description: 'Update. Send only the fields to change.',
  additionalProperties: false,
  minProperties: 1,
  dependentRequired: together,
});
export type AppointmentUpdateBody = Static<typeof appointmentUpdateSchema>;

export const appointmentCancellationSchema = Type.Object(cancellationFields, {
  $id: 'AppointmentCancellation',
  description: 'Cancels the appointment.',
  additionalProperties: false,
});
export type AppointmentCancellationBody = Static<typeof appointmentCancellationSchema>;

export const appointmentConfirmationSchema = Type.Object(confirmationFields, {
  $id: 'AppointmentConfirmation',
  description:
    'Confirms with the code that the patient received. Only the client that started the confirmation can do this.',
  additionalProperties: false,
});
export type AppointmentConfirmationBody = Static<typeof appointmentConfirmationSchema>;

/** One of update, cancel and confirm. */
export const appointmentChangeSchema = Type.Union([
  reference<AppointmentUpdateBody>('AppointmentUpdate'),
  reference<AppointmentCancellationBody>('AppointmentCancellation'),
  reference<AppointmentConfirmationBody>('AppointmentConfirmation'),
]);

export const bulkUpdateSchema = Type.Object(
  { ids, ...updateFields, return_url: returnUrl },
  {
    $id: 'BulkUpdate',
    description:
      'Without `start` and `end`, updates all appointments alike. With them, performs a continuous reschedule, which can need a code and so takes a `return_url`.',
    additionalProperties: false,
    minProperties: 2,
    dependentRequired: { ...together, return_url: ['start'] },
  },
);
export type BulkUpdateBody = Static<typeof bulkUpdateSchema>;

export const bulkCancellationSchema = Type.Object(
  { ids, ...cancellationFields },
  { $id: 'BulkCancellation', description: 'Cancels several appointments.', additionalProperties: false },
);
export type BulkCancellationBody = Static<typeof bulkCancellationSchema>;

export const bulkConfirmationSchema = Type.Object(
  { ids, ...confirmationFields },
  {
    $id: 'BulkConfirmation',
    description: 'Confirms several appointments that await the same code.',
    additionalProperties: false,
  },
);
export type BulkConfirmationBody = Static<typeof bulkConfirmationSchema>;

export const bulkChangeSchema = Type.Union([
  reference<BulkUpdateBody>('BulkUpdate'),
  reference<BulkCancellationBody>('BulkCancellation'),
  reference<BulkConfirmationBody>('BulkConfirmation'),
]);
