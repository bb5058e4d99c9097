import { identifierTypeSchema } from '@crossward/connector-kit';
import { secretSetting, serverUrlSchema, settingsOf, textSetting } from '@crossward/connector-kit/rest';
import Type, { type Static } from 'typebox';

const uuidPattern = '^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$';
const uuid = (description: string) => Type.String({ pattern: uuidPattern, description });

/** Ids of CARE are UUIDs. Anything else is not sent. */
export function isId(value: string): boolean {
  return new RegExp(uuidPattern).test(value);
}

const registration = settingsOf(
  {
    geo_organization: uuid('The government organisation to which new patients belong.'),
    pincode: Type.Integer({ minimum: 1, description: 'For patients without a postal code.' }),
  },
  'What CARE demands of new patients. Absent: the gateway creates none.',
);

export const careSettings = settingsOf({
  base_url: serverUrlSchema('Address of the server, without /api.'),
  username: textSetting('A user of its own for the gateway, without a second factor.'),
  password: secretSetting,
  identifier_systems: Type.Optional(
    Type.Unsafe<Readonly<Record<string, string>>>({
      type: 'object',
      propertyNames: identifierTypeSchema('patient'),
      additionalProperties: { type: 'string', minLength: 1 },
      description: 'The `system` of the identifier configuration that has the numbers of a type. Absent: by id only.',
    }),
  ),
  registration: Type.Optional(registration),
});
export type CareSettings = Static<typeof careSettings>;

const service = settingsOf({
  id: textSetting(),
  name: textSetting(),
  availabilities: Type.Array(Type.String(), {
    minItems: 1,
    description: 'Names of the availabilities whose slots are for this service.',
  }),
});

/** The `settings` of a care unit. */
export const careUnitSettings = settingsOf({
  facility: uuid('Id of the facility.'),
  locations: Type.Optional(Type.Array(uuid('Id of a location that can be booked.'))),
  healthcare_services: Type.Optional(
    Type.Array(service, { minItems: 1, description: 'Default: one service, appointment, with all slots.' }),
  ),
});
export type CareUnitSettings = Static<typeof careUnitSettings>;
