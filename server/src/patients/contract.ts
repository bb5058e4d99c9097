import { genders } from '@crossward/connector-kit';
import Type from 'typebox';
import { emrId, nullableChoice, nullableString } from '../api/schemas.ts';

const addressSchema = Type.Object({
  lines: Type.Array(Type.String()),
  postal_code: nullableString(),
  city: nullableString(),
  country: nullableString({ description: 'ISO 3166-1 alpha-2 code.' }),
});

export const patientSchema = Type.Object(
  {
    id: emrId,
    identifiers: Type.Array(Type.String(), { description: 'All known identifiers, in Patient ID notation.' }),
    given_name: nullableString(),
    family_name: nullableString(),
    birth_date: nullableString({ format: 'date' }),
    gender: nullableChoice(genders),
    phone: nullableString({ description: 'Phone number in E.164 format.' }),
    email: nullableString(),
    address: Type.Union([addressSchema, Type.Null()]),
  },
  { $id: 'Patient', description: 'A patient, as recorded in the EHR.' },
);
