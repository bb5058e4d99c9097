import Type from 'typebox';
import { nextCursor } from '../api/paging.ts';
import { nullableInteger, nullableString, reference } from '../api/schemas.ts';

const codeSchema = Type.Object({
  system: nullableString({ description: 'URI of the system. Null if the EHR does not say.' }),
  code: Type.String(),
  display: nullableString(),
});

export const healthcareServiceSchema = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    codes: Type.Array(codeSchema, {
      description: 'What the service means, in codes that other EHRs may have too. Empty: the EHR has none.',
    }),
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
