import { settingsOf, textSetting } from '@crossward/connector-kit/rest';
import Type, { type Static } from 'typebox';

const text = textSetting();
const asid = (description: string) => Type.String({ pattern: '^\\d{12}$', description });
const odsCode = Type.String({ pattern: '^[A-Z0-9]{3,12}$', description: 'ODS code, such as A20047.' });

/** Longest `Appointment.description` and `Appointment.comment` that GP Connect allows, in UTF-16 code units. */
export const longestDescription = 100;
export const longestComment = 500;

const user = settingsOf(
  {
    id: textSetting('Id or name of the user in your own system.'),
    family_name: text,
    given_name: text,
    title: Type.Optional(text),
    sds_user_id: Type.Optional(textSetting('From the smartcard. Default: UNK.')),
    sds_role_profile_id: Type.Optional(textSetting('From the smartcard. Default: UNK.')),
  },
  'The user for background work, and for requests that name no user.',
);
const healthcareService = settingsOf({
  id: text,
  name: text,
  duration_minutes: Type.Optional(Type.Integer({ minimum: 1 })),
  slot_type: textSetting('The text of Slot.serviceType.'),
  schedule_type: Type.Optional(textSetting('The text of Schedule.serviceCategory. Default: any.')),
});

export const gpConnectSettings = settingsOf({
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
  organization: settingsOf(
    {
      ods_code: odsCode,
      name: text,
      phone: text,
      type: Type.Optional(textSetting('Code of GPConnect-OrganisationType-1, such as urgent-care.')),
    },
    'The organisation that books.',
  ),
  device: settingsOf({ id: text, model: text, version: text }, 'Your own system.'),
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
  cancel_reason: Type.Optional(textSetting('Reason of a cancellation without a comment. Default: Cancelled')),
});
export type GpConnectSettings = Static<typeof gpConnectSettings>;
export type ServiceSettings = Static<typeof healthcareService>;

/** The `settings` of a care unit. */
export const careUnitSettings = settingsOf({
  /** Default: every location of the practice. */
  location: Type.Optional(Type.String({ pattern: '^Location/[A-Za-z0-9.-]{1,64}$' })),
  resources: Type.Array(
    settingsOf({
      /** A location stands for schedules without a practitioner. */
      reference: Type.String({ pattern: '^(Practitioner|Location)/[A-Za-z0-9.-]{1,64}$' }),
      name: text,
      /** Ids of healthcare services. Default: all. */
      healthcare_services: Type.Optional(Type.Array(text)),
    }),
  ),
});
export type CareUnitSettings = Static<typeof careUnitSettings>;

export const defaultCancelReason = 'Cancelled';
