import Type, { type Static } from 'typebox';
import { nextCursor, pagingQuery } from '../api/paging.ts';
import { choice, nullableString, patientNotation, reference, resourceNotation, text } from '../api/schemas.ts';
import { changeWords } from './write/plan.ts';

export const appointmentStatuses = ['awaiting_confirmation', 'booked', 'cancelled'] as const;
export type AppointmentStatus = (typeof appointmentStatuses)[number];

const comment = text({ maxLength: 2000, description: 'Free text, up to 2,000 characters. `""` clears it.' });
const dateTime = (description: string) =>
  Type.String({ format: 'date-time-or-local', description: `${description} RFC 3339; without an offset: local time.` });
const localDateTime = (description: string) =>
  Type.String({
    format: 'local-date-time',
    description: `${description} Local to the care unit, YYYY-MM-DDThh:mm:ss.`,
  });

const confirmationId = 'Ids with the same one are confirmed by the same code.';
const confirmationFacts = {
  kind: choice(['booking', 'cancellation']),
  channel: choice(['sms', 'email']),
  attempts_remaining: Type.Integer({ description: 'How often the person may still try.' }),
  page_url: nullableString({ description: 'A page where the person can enter the code, where there is one.' }),
};
const deliveries = ['queued', 'sent', 'failed'] as const;

export const confirmationSchema = Type.Object(
  {
    id: Type.String({ description: confirmationId }),
    ...confirmationFacts,
    delivery: choice(deliveries, { description: 'What has become of the newest message.' }),
    expires_at: Type.String({ format: 'date-time' }),
  },
  { $id: 'Confirmation', description: 'What is known of a code, while it is awaited.' },
);

const appointmentFacts = {
  status: choice(appointmentStatuses),
  start: Type.String({ format: 'date-time', description: "With the care unit's offset." }),
  end: Type.String({ format: 'date-time', description: "With the care unit's offset." }),
  comment: nullableString(),
  patient_id: Type.String({ description: 'As `emr_id:{value}`.' }),
  resource_id: Type.String({ description: 'As `emr_id:{value}`.' }),
  healthcare_service_id: Type.String(),
  emr: Type.String(),
  care_unit_id: Type.String(),
  replaces_id: nullableString({ description: "On an id made by a two-step cancellation: the original's id." }),
  supersedes_id: nullableString({ description: 'Where an EHR can only cancel and book anew: the former id.' }),
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

/** The answer to a dry run. */
export const previewSchema = Type.Object(
  {
    id: nullableString({ description: 'Null: it would be made.' }),
    ...appointmentFacts,
    confirmation: Type.Union([
      Type.Object({
        id: nullableString({ description: 'Null: it would be made.' }),
        ...confirmationFacts,
        delivery: Type.Unsafe<(typeof deliveries)[number] | null>({
          type: ['string', 'null'],
          enum: [...deliveries, null],
        }),
        expires_at: nullableString({ format: 'date-time' }),
      }),
      Type.Null(),
    ]),
    change: choice(changeWords, { description: 'What would become of it.' }),
  },
  { $id: 'AppointmentPreview', description: 'What an appointment would be.' },
);
export type PreviewBody = Static<typeof previewSchema>;

export const appointmentsSchema = Type.Object({ appointments: Type.Array(reference<AppointmentBody>('Appointment')) });
export const previewsSchema = Type.Object({ appointments: Type.Array(reference<PreviewBody>('AppointmentPreview')) });

export const dryRunQuery = {
  dry_run: Type.Optional(
    Type.Boolean({
      default: false,
      description: 'Checks everything, changes nothing, sends nothing: 200 with what would be.',
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
  start: Type.Optional(dateTime('Start of a range that the appointments overlap; with `end`.')),
  end: Type.Optional(dateTime('End of a range that the appointments overlap; with `start`.')),
  status: Type.Optional(Type.Array(choice(appointmentStatuses), { description: 'May repeat. Absent: all.' })),
  ...pagingQuery,
};

export const appointmentCreationSchema = Type.Object(
  {
    patient_id: patientNotation(),
    resource_id: resourceNotation(),
    healthcare_service_id: text(),
    start_time: localDateTime('Start.'),
    end_time: localDateTime('End.'),
    comment: Type.Optional(comment),
  },
  { $id: 'AppointmentCreation', additionalProperties: false },
);

const updateFields = {
  start: Type.Optional(dateTime('New start; with `end`.')),
  end: Type.Optional(dateTime('New end; with `start`.')),
  resource_id: Type.Optional(resourceNotation('New resource. ')),
  comment: Type.Optional(comment),
};
const together = { start: ['end'], end: ['start'] };
const cancellationFields = {
  status: Type.Literal('cancelled', { description: 'Reserved for cancelling.' }),
  comment: Type.Optional(comment),
};
const confirmationFields = {
  confirmation: Type.Object(
    { code: text({ minLength: 1, maxLength: 100, description: 'The code that the end user received.' }) },
    { additionalProperties: false },
  ),
};
const ids = Type.Array(text({ minLength: 1, maxLength: 200 }), { minItems: 1, maxItems: 100, uniqueItems: true });

export const appointmentUpdateSchema = Type.Object(updateFields, {
  $id: 'AppointmentUpdate',
  description: 'Update: only the fields to change.',
  additionalProperties: false,
  minProperties: 1,
  dependentRequired: together,
});
export type AppointmentUpdateBody = Static<typeof appointmentUpdateSchema>;

export const appointmentCancellationSchema = Type.Object(cancellationFields, {
  $id: 'AppointmentCancellation',
  description: 'Cancel.',
  additionalProperties: false,
});
export type AppointmentCancellationBody = Static<typeof appointmentCancellationSchema>;

export const appointmentConfirmationSchema = Type.Object(confirmationFields, {
  $id: 'AppointmentConfirmation',
  description:
    'Confirm with the code that the end user received. It belongs to the client that started the confirmation.',
  additionalProperties: false,
});
export type AppointmentConfirmationBody = Static<typeof appointmentConfirmationSchema>;

/** Exactly one of update, cancel and confirm. */
export const appointmentChangeSchema = Type.Union([
  reference<AppointmentUpdateBody>('AppointmentUpdate'),
  reference<AppointmentCancellationBody>('AppointmentCancellation'),
  reference<AppointmentConfirmationBody>('AppointmentConfirmation'),
]);

export const bulkUpdateSchema = Type.Object(
  { ids, ...updateFields },
  {
    $id: 'BulkUpdate',
    description: 'Without `start` and `end`: a pure bulk update. With them: a continuous reschedule.',
    additionalProperties: false,
    minProperties: 2,
    dependentRequired: together,
  },
);
export type BulkUpdateBody = Static<typeof bulkUpdateSchema>;

export const bulkCancellationSchema = Type.Object(
  { ids, ...cancellationFields },
  { $id: 'BulkCancellation', description: 'Cancel many.', additionalProperties: false },
);
export type BulkCancellationBody = Static<typeof bulkCancellationSchema>;

export const bulkConfirmationSchema = Type.Object(
  { ids, ...confirmationFields },
  { $id: 'BulkConfirmation', description: 'Confirm many that await the same code.', additionalProperties: false },
);
export type BulkConfirmationBody = Static<typeof bulkConfirmationSchema>;

export const bulkChangeSchema = Type.Union([
  reference<BulkUpdateBody>('BulkUpdate'),
  reference<BulkCancellationBody>('BulkCancellation'),
  reference<BulkConfirmationBody>('BulkConfirmation'),
]);
