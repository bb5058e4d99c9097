import Type, { type Static } from 'typebox';
import { nextCursor, pagingQuery } from '../http/paging.ts';
import { choice, nullableString, patientNotation, reference, resourceNotation, text } from '../http/schemas.ts';

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

export const appointmentSchema = Type.Object(
  {
    id: Type.String(),
    status: choice(appointmentStatuses),
    start: Type.String({ format: 'date-time', description: "With the care unit's offset." }),
    end: Type.String({ format: 'date-time', description: "With the care unit's offset." }),
    comment: nullableString(),
    patient_id: Type.String({ description: 'As `emr_id:{value}`.' }),
    resource_id: Type.String({ description: 'As `emr_id:{value}`.' }),
    healthcare_service_id: Type.String(),
    emr: Type.String(),
    care_unit_id: Type.String(),
    confirmation: Type.Null({ description: 'What is known of the code, while one is awaited.' }),
    replaces_id: nullableString({ description: "On an id made by a two-step cancellation: the original's id." }),
    supersedes_id: nullableString({ description: 'Where an EHR can only cancel and book anew: the former id.' }),
  },
  { $id: 'Appointment', description: 'An appointment of one patient with one resource.' },
);
export type AppointmentBody = Static<typeof appointmentSchema>;

export const appointmentListSchema = Type.Object({
  appointments: Type.Array(reference('Appointment')),
  next_cursor: nextCursor,
});

export const appointmentQuery = {
  patient_id: Type.Optional(Type.String({ description: patientNotation })),
  resource_id: Type.Optional(Type.String({ description: resourceNotation })),
  start: Type.Optional(dateTime('Start of a range that the appointments overlap; with `end`.')),
  end: Type.Optional(dateTime('End of a range that the appointments overlap; with `start`.')),
  status: Type.Optional(Type.Array(choice(appointmentStatuses), { description: 'May repeat. Absent: all.' })),
  ...pagingQuery,
};

export const appointmentCreationSchema = Type.Object(
  {
    patient_id: Type.String({ description: patientNotation }),
    resource_id: Type.String({ description: resourceNotation }),
    healthcare_service_id: text(),
    start_time: localDateTime('Start.'),
    end_time: localDateTime('End.'),
    comment: Type.Optional(comment),
  },
  { $id: 'AppointmentCreation', additionalProperties: false },
);

export const appointmentUpdateSchema = Type.Object(
  {
    start: Type.Optional(dateTime('New start; with `end`.')),
    end: Type.Optional(dateTime('New end; with `start`.')),
    resource_id: Type.Optional(Type.String({ description: `New resource. ${resourceNotation}` })),
    comment: Type.Optional(comment),
  },
  {
    $id: 'AppointmentUpdate',
    description: 'Update: only the fields to change.',
    additionalProperties: false,
    minProperties: 1,
    dependentRequired: { start: ['end'], end: ['start'] },
  },
);
export type AppointmentUpdateBody = Static<typeof appointmentUpdateSchema>;

export const appointmentCancellationSchema = Type.Object(
  {
    status: Type.Literal('cancelled', { description: 'Reserved for cancelling.' }),
    comment: Type.Optional(comment),
  },
  { $id: 'AppointmentCancellation', description: 'Cancel.', additionalProperties: false },
);
export type AppointmentCancellationBody = Static<typeof appointmentCancellationSchema>;

/** Exactly one of update and cancel. */
export const appointmentChangeSchema = Type.Union([
  reference<AppointmentUpdateBody>('AppointmentUpdate'),
  reference<AppointmentCancellationBody>('AppointmentCancellation'),
]);
