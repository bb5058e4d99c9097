import { genders } from '@crossward/connector-kit';
import Type, { type Static } from 'typebox';
import { nextCursor, pagingQuery } from '../api/paging.ts';
import {
  choice,
  dateTime,
  emrId,
  nullableChoice,
  nullableString,
  patientNotation,
  reference,
  text,
} from '../api/schemas.ts';
import { auditActors } from '../db/tables/audit.ts';

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

const familyName = Type.String({ format: 'name', maxLength: 200 });
const birthDate = Type.String({ format: 'date' });
const phone = Type.String({ format: 'phone-number', description: 'E.164, such as `+46701740605`.' });

export const patientSearchSchema = Type.Object(
  { family_name: Type.Optional(familyName), birth_date: Type.Optional(birthDate), phone: Type.Optional(phone) },
  {
    $id: 'PatientSearch',
    additionalProperties: false,
    description: 'Either `family_name` and `birth_date`, or `phone`. Upper and lower case do not differ.',
  },
);

export const patientListSchema = Type.Object({
  patients: Type.Array(reference<Static<typeof patientSchema>>('Patient')),
});

export const patientCreationSchema = Type.Object(
  {
    identifier: patientNotation('A national number of a type that the EHR knows. '),
    given_name: Type.String({ format: 'name', maxLength: 200 }),
    family_name: familyName,
    birth_date: birthDate,
    gender: Type.Optional(choice(genders)),
    phone: Type.Optional(phone),
    email: Type.Optional(Type.String({ format: 'email-address' })),
    address: Type.Optional(
      Type.Object(
        {
          lines: Type.Array(Type.String({ format: 'name', maxLength: 200 }), { maxItems: 5 }),
          postal_code: Type.Optional(text({ format: 'line', maxLength: 20 })),
          city: Type.Optional(text({ format: 'line', maxLength: 200 })),
          country: Type.Optional(Type.String({ pattern: '^[A-Z]{2}$', description: 'ISO 3166-1 alpha-2 code.' })),
        },
        { additionalProperties: false },
      ),
    ),
  },
  { $id: 'PatientCreation', additionalProperties: false },
);

export const accessSchema = Type.Object(
  {
    time: Type.String({ format: 'date-time', description: "RFC 3339, with the care unit's UTC offset." }),
    actor: choice(auditActors, {
      description:
        '`client`: a request of the client. `patient_page`: somebody with the link to the page for patients, which the client had asked for. `background`: the gateway, which completed or took back a write of the client, or released a time that was not confirmed.',
    }),
    client: Type.Object({
      id: Type.String({ description: '`background`: the gateway itself, for no client.' }),
      name: nullableString({
        description: 'As the operators configured it. Null if they no longer have such a client.',
      }),
    }),
    operation: Type.String({
      description:
        'What was done: an operation of this interface, such as `get_patient`; `view_patient_page`, `get_calendar_file`, `confirm_on_patient_page`, `cancel_on_patient_page` or `resend_on_patient_page`; in the background, the kind of write: `appointments`, `medical_note`, `document` or `expiry`. New values can be added.',
    }),
    care_unit_id: Type.String(),
    outcome: Type.String({
      description:
        '`success`, `dry_run`, `replayed` (an earlier response was sent again), or the reason of the problem. In the background also `not_done`, `undone` and `looked_up`. New values can be added.',
    }),
    request_id: Type.String({ description: 'Id of the request, or in the background of the write.' }),
  },
  { $id: 'Access', description: "An access to a patient's record through the gateway." },
);
export type AccessBody = Static<typeof accessSchema>;

export const accessListSchema = Type.Object({
  accesses: Type.Array(reference<AccessBody>('Access')),
  next_cursor: nextCursor,
});

export const accessQuery = {
  start: Type.Optional(dateTime('Returns accesses at this time or later.')),
  end: Type.Optional(dateTime('Returns accesses before this time.')),
  ...pagingQuery,
};
