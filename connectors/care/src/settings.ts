import { identifierTypeSchema, type SecretValue, secretSchema } from '@crossward/connector-kit';
import { serverUrlSchema } from '@crossward/connector-kit/rest';
import Type, { type Static } from 'typebox';

const closed = { additionalProperties: false } as const;
const uuid = (description: string) => Type.String({ pattern: uuidPattern, description });
const uuidPattern = '^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$';

/** Ids of CARE are UUIDs. Anything else is not sent. */
export function isId(value: string): boolean {
  return new RegExp(uuidPattern).test(value);
}

export const careSettings = Type.Object(
  {
    base_url: serverUrlSchema('Address of the server, without /api.'),
    username: Type.String({ minLength: 1, description: 'A user of its own for the gateway, without a second factor.' }),
    password: Type.Unsafe<SecretValue>(secretSchema),
    identifier_systems: Type.Optional(
      Type.Unsafe<Readonly<Record<string, string>>>({
        type: 'object',
        propertyNames: identifierTypeSchema('patient'),
        additionalProperties: { type: 'string', minLength: 1 },
        description: 'The `system` of the identifier configuration that has the numbers of a type. Absent: by id only.',
      }),
    ),
    registration: Type.Optional(
      Type.Object(
        {
          geo_organization: uuid('The government organisation to which new patients belong.'),
          pincode: Type.Integer({ minimum: 1, description: 'For patients without a postal code.' }),
        },
        { ...closed, description: 'What CARE demands of new patients. Absent: the gateway creates none.' },
      ),
    ),
  },
  closed,
);
export type CareSettings = Static<typeof careSettings>;

/** The `settings` of a care unit. */
export const careUnitSettings = Type.Object(
  {
    facility: uuid('Id of the facility.'),
    locations: Type.Optional(Type.Array(uuid('Id of a location that can be booked.'))),
    healthcare_services: Type.Optional(
      Type.Array(
        Type.Object(
          {
            id: Type.String({ minLength: 1 }),
            name: Type.String({ minLength: 1 }),
            availabilities: Type.Array(Type.String(), {
              minItems: 1,
              description: 'Names of the availabilities whose slots are for this service.',
            }),
          },
          closed,
        ),
        { minItems: 1, description: 'Default: one service, appointment, with all slots.' },
      ),
    ),
  },
  closed,
);
export type CareUnitSettings = Static<typeof careUnitSettings>;
