import { genders } from '@crossward/connector-kit';
import Type from 'typebox';
import { nullableString } from '../api/schemas.ts';

const addressSchema = Type.Object({
  lines: Type.Array(Type.String()),
  postal_code: nullableString(),
  city: nullableString(),
  country: nullableString({ description: 'ISO 3166-1 alpha-2.' }),
});

export const patientSchema = Type.Object(
  {
    id: Type.String({ description: 'Internal identifier of the EHR, without a prefix.' }),
    identifiers: Type.Array(Type.String(), { description: 'Every identifier known, in Patient ID notation.' }),
    given_name: nullableString(),
    family_name: nullableString(),
    birth_date: nullableString({ format: 'date' }),
    gender: Type.Unsafe<string | null>({ type: ['string', 'null'], enum: [...genders, null] }),
    phone: nullableString({ description: 'E.164.' }),
    email: nullableString(),
    address: Type.Union([addressSchema, Type.Null()]),
  },
  { $id: 'Patient', description: 'A patient, as the EHR has it.' },
);
