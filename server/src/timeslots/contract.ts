import Type from 'typebox';
import { nextCursor, pagingQuery } from '../api/paging.ts';
import { emrId, modality, patientNotation, reference, resourceNotation, text } from '../api/schemas.ts';

/** The longest range of a search. */
export const longestRangeHours = 92 * 24;

export const timeslotSchema = Type.Object(
  {
    start: Type.String({ format: 'date-time' }),
    end: Type.String({ format: 'date-time' }),
    resource_id: emrId,
    healthcare_service_id: Type.String(),
    modality,
  },
  { $id: 'Timeslot', description: 'A free time slot. An appointment covers one or more consecutive slots.' },
);

export const timeslotListSchema = Type.Object({
  timeslots: Type.Array(reference('Timeslot')),
  next_cursor: nextCursor,
});

export const timeslotQuery = {
  start: Type.String({
    format: 'date-time-or-local',
    description: 'Start of the range. RFC 3339. Local time of the care unit if the offset is omitted.',
  }),
  end: Type.String({
    format: 'date-time-or-local',
    description: 'End of the range, at most 92 days after `start`. RFC 3339. Local time if the offset is omitted.',
  }),
  resource_id: Type.Optional(Type.Array(resourceNotation('Can be repeated. '), { maxItems: 100 })),
  healthcare_service_id: Type.Optional(
    Type.Array(text(), { description: 'Id of a healthcare service. Can be repeated.', maxItems: 100 }),
  ),
  patient_id: Type.Optional(
    patientNotation(
      'The patient who wants to book: only for an EHR whose `capabilities.timeslots_by_patient` is `optional` or `required`. ',
    ),
  ),
  ...pagingQuery,
};
