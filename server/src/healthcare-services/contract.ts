import Type from 'typebox';
import { nextCursor } from '../api/paging.ts';
import { nullableInteger, reference } from '../api/schemas.ts';

export const healthcareServiceSchema = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    duration_minutes: nullableInteger({ description: 'Informative: a booking has the length of its time slots.' }),
  },
  { $id: 'HealthcareService', description: 'What can be booked.' },
);

export const healthcareServiceListSchema = Type.Object({
  healthcare_services: Type.Array(reference('HealthcareService')),
  next_cursor: nextCursor,
});
