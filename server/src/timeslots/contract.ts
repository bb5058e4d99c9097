import Type from 'typebox';
import { nextCursor, pagingQuery } from '../api/paging.ts';
import { reference, resourceNotation, text } from '../api/schemas.ts';

export const timeslotSchema = Type.Object(
  {
    start: Type.String({ format: 'date-time' }),
    end: Type.String({ format: 'date-time' }),
    resource_id: Type.String(),
    healthcare_service_id: Type.String(),
  },
  { $id: 'Timeslot', description: 'A free time: a booking starts where one starts and ends where one ends.' },
);

export const timeslotListSchema = Type.Object({
  timeslots: Type.Array(reference('Timeslot')),
  next_cursor: nextCursor,
});

export const timeslotQuery = {
  start: Type.String({
    format: 'date-time-or-local',
    description: 'Start of the range. Without an offset: local time.',
  }),
  end: Type.String({ format: 'date-time-or-local', description: 'End of the range, at most 92 days after its start.' }),
  resource_id: Type.Optional(Type.Array(resourceNotation('May repeat. '), { maxItems: 100 })),
  healthcare_service_id: Type.Optional(Type.Array(text(), { description: 'May repeat.', maxItems: 100 })),
  ...pagingQuery,
};
