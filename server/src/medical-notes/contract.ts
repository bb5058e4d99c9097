import Type, { type Static } from 'typebox';
import { nextCursor, pagingQuery } from '../api/paging.ts';
import { emrId, nullableString, reference, resourceNotation, text } from '../api/schemas.ts';

const dateTime = (description: string) =>
  Type.String({
    format: 'date-time-or-local',
    description: `${description} RFC 3339. Local time of the care unit if the offset is omitted.`,
  });

export const medicalNoteSchema = Type.Object(
  {
    id: Type.String(),
    patient_id: emrId,
    created_at: Type.String({ format: 'date-time', description: "RFC 3339, with the care unit's UTC offset." }),
    author_id: nullableString({ description: 'As `emr_id:{value}`. Null if the EHR does not name an author.' }),
    title: nullableString(),
    text: Type.String({ description: 'Plain text. A note that the EHR stores in another format is converted.' }),
    appointment_id: nullableString({ description: 'Id of the appointment that the note is about.' }),
  },
  { $id: 'MedicalNote', description: 'A medical note of a patient, written at the care unit.' },
);
export type MedicalNoteBody = Static<typeof medicalNoteSchema>;

export const medicalNoteListSchema = Type.Object({
  medical_notes: Type.Array(reference<MedicalNoteBody>('MedicalNote')),
  next_cursor: nextCursor,
});

export const medicalNoteQuery = {
  start: Type.Optional(dateTime('Returns notes created at this time or later.')),
  end: Type.Optional(dateTime('Returns notes created before this time.')),
  author_id: Type.Optional(resourceNotation('Returns notes of this author. ')),
  ...pagingQuery,
};

export const medicalNoteCreationSchema = Type.Object(
  {
    text: Type.String({
      format: 'text-with-content',
      maxLength: 100_000,
      description: 'Plain text, up to 100,000 characters. Must not be blank.',
    }),
    title: Type.Optional(
      text({ format: 'line', maxLength: 200, description: 'One line, up to 200 characters. `""`: no title.' }),
    ),
    author_id: Type.Optional(resourceNotation('A practitioner of the care unit. ')),
    appointment_id: Type.Optional(
      text({
        minLength: 1,
        maxLength: 200,
        description: 'Id of an appointment of the patient at the care unit.',
      }),
    ),
  },
  { $id: 'MedicalNoteCreation', additionalProperties: false },
);
