import Type from 'typebox';
import { nextCursor } from '../api/paging.ts';
import { nullableInteger, reference } from '../api/schemas.ts';

export const healthcareServiceSchema = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    duration_minutes: nullableInteger({
      description:
        'Typical duration in minutes. For information only: an appointment has the length of its time slots.',
    }),
  },
  { $id: 'HealthcareService', description: 'A healthcare service that can be booked.' },
);

export const healthcareServiceListSchema = Type.Object({
  healthcare_services: Type.Array(reference('HealthcareService')),
  next_cursor: nextCursor,
});
