import Type, { type Static } from 'typebox';

const text = Type.String({ minLength: 1 });
const asid = (description: string) => Type.String({ pattern: '^\\d{12}$', description });
const odsCode = Type.String({ pattern: '^[A-Z0-9]{3,12}$', description: 'ODS code, such as A20047.' });
const closed = { additionalProperties: false } as const;

/** Longest `Appointment.description` and `Appointment.comment` that GP Connect allows, in UTF-16 code units. */
export const longestDescription = 100;
export const longestComment = 500;

const user = Type.Object(
  {
    id: Type.String({ minLength: 1, description: 'Id or name of the user in your own system.' }),
    family_name: text,
    given_name: text,
    title: Type.Optional(text),
    sds_user_id: Type.Optional(Type.String({ minLength: 1, description: 'From the smartcard. Default: UNK.' })),
    sds_role_profile_id: Type.Optional(Type.String({ minLength: 1, description: 'From the smartcard. Default: UNK.' })),
  },
  { ...closed, description: 'The user for background work, and for requests that name no user.' },
);
const healthcareService = Type.Object(
  {
    id: text,
    name: text,
    duration_minutes: Type.Optional(Type.Integer({ minimum: 1 })),
    slot_type: Type.String({ minLength: 1, description: 'The text of Slot.serviceType.' }),
    schedule_type: Type.Optional(
      Type.String({ minLength: 1, description: 'The text of Schedule.serviceCategory. Default: any.' }),
    ),
  },
  closed,
);

export const gpConnectSettings = Type.Object(
  {
    provider_url: Type.String({
      pattern: '^https?://',
      description: 'Service root URL of the practice, from the Spine directory.',
    }),
    proxy_url: Type.Optional(
      Type.String({ pattern: '^https?://', description: 'URL of the Spine Secure Proxy. Default: none.' }),
    ),
    from_asid: asid('ASID of your own system: Ssp-From.'),
    to_asid: asid('ASID of the practice’s system: Ssp-To.'),
    issuer: Type.String({ pattern: '^https?://', description: 'URL of your own Spine endpoint: iss of the token.' }),
    organization: Type.Object(
      {
        ods_code: odsCode,
        name: text,
        phone: text,
        type: Type.Optional(
          Type.String({ minLength: 1, description: 'Code of GPConnect-OrganisationType-1, such as urgent-care.' }),
        ),
      },
      { ...closed, description: 'The organisation that books.' },
    ),
    device: Type.Object({ id: text, model: text, version: text }, { ...closed, description: 'Your own system.' }),
    practitioner: user,
    healthcare_services: Type.Optional(
      Type.Array(healthcareService, {
        description: 'What can be booked. `crossward emr check` recommends it. Default: nothing.',
      }),
    ),
    description: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: longestDescription,
        description: 'Appointment.description of bookings. Default: the name of the healthcare service.',
      }),
    ),
    cancel_reason: Type.Optional(
      Type.String({ minLength: 1, description: 'Reason of a cancellation without a comment. Default: Cancelled' }),
    ),
  },
  closed,
);
export type GpConnectSettings = Static<typeof gpConnectSettings>;
export type ServiceSettings = Static<typeof healthcareService>;

/** The `settings` of a care unit. */
export const careUnitSettings = Type.Object(
  {
    /** Default: every location of the practice. */
    location: Type.Optional(Type.String({ pattern: '^Location/[A-Za-z0-9.-]{1,64}$' })),
    resources: Type.Array(
      Type.Object(
        {
          /** A location stands for schedules without a practitioner. */
          reference: Type.String({ pattern: '^(Practitioner|Location)/[A-Za-z0-9.-]{1,64}$' }),
          name: text,
          /** Ids of healthcare services. Default: all. */
          healthcare_services: Type.Optional(Type.Array(text)),
        },
        closed,
      ),
    ),
  },
  closed,
);

export const defaultCancelReason = 'Cancelled';
