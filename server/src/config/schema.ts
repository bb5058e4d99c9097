import type { ConnectorModule } from '@crossward/connector-kit';
import Type, { type Static } from 'typebox';
import { connectionSchema } from './connection.ts';
import { httpSchema } from './http.ts';
import { messagesSchema } from './messages.ts';
import { policiesSchema } from './policies.ts';
import { choice, environmentReference, id, text, wholeNumber } from './schema-parts.ts';

/** What a client may be allowed to do. */
export const scopes = [
  'appointments:read',
  'appointments:write',
  'patients:read',
  'notes:read',
  'notes:write',
  'documents:read',
  'documents:write',
  'resources:read',
  'schedules:write',
  'webhooks:manage',
] as const;
export type Scope = (typeof scopes)[number];

function settings(description: string) {
  return Type.Unsafe<Record<string, unknown>>({ type: 'object', description });
}

const careUnit = Type.Object(
  {
    id: id('`{care_unit_id}` in the paths; unique within the EHR.'),
    name: text('Name, as people read it.'),
    time_zone: text('IANA time zone, such as `Europe/Oslo`. Local times are read in it.'),
    language: choice(['nb', 'sv', 'en'], { description: 'Language of the messages to patients.' }),
    policies: Type.Optional(policiesSchema),
    settings: Type.Optional(settings('What the connector wants to know about this care unit.')),
  },
  { additionalProperties: false },
);

function emr(connectors: readonly ConnectorModule[]) {
  return Type.Object(
    {
      id: id('`{emr}` in the paths; unique.'),
      name: text('Name, as people read it.'),
      connector: Type.String({ enum: connectors.map(({ name }) => name), description: 'The kind of EHR.' }),
      settings: Type.Optional(settings("The connector's own settings. A mapping `{ env: NAME }` stands for a secret.")),
      synthetic_identifiers: Type.Optional(
        Type.Boolean({
          description: 'Whether national numbers from the ranges set aside for synthetic people are taken.',
          default: false,
        }),
      ),
      connection: Type.Optional(connectionSchema),
      policies: Type.Optional(policiesSchema),
      care_units: Type.Array(careUnit, { description: 'Its care units.', minItems: 1 }),
    },
    { additionalProperties: false, allOf: connectors.map(settingsOf) },
  );
}

function settingsOf({ name, settingsSchema }: ConnectorModule) {
  const needed =
    'required' in settingsSchema && Array.isArray(settingsSchema.required) && settingsSchema.required.length;
  return {
    if: { properties: { connector: { const: name } }, required: ['connector'] },
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema; nothing awaits it.
    then: { properties: { settings: settingsSchema }, ...(needed ? { required: ['settings'] } : {}) },
  };
}

const clientSecret = Type.Union(
  [
    Type.Object(
      {
        sha256: Type.String({
          description: 'SHA-256 of the secret in hexadecimal: `printf %s "$SECRET" | sha256sum`.',
          pattern: '^[0-9a-fA-F]{64}$',
          errorMessage: 'must be a SHA-256 hash: 64 hexadecimal digits, in quotes',
        }),
      },
      { additionalProperties: false },
    ),
    environmentReference('Environment variable that holds the secret: at least 32 characters.'),
  ],
  { errorMessage: 'must be { sha256: HASH } or { env: NAME }: the secret itself never stands in this file' },
);

const grant = Type.Object(
  {
    emr: id('Id of the EHR.'),
    care_units: Type.Optional(
      Type.Array(id('Id of a care unit.'), {
        description: 'Only these care units. Absent: all of the EHR.',
        minItems: 1,
        uniqueItems: true,
      }),
    ),
  },
  { additionalProperties: false },
);

const client = Type.Object(
  {
    id: Type.String({
      description: 'What the client sends as `x-service-client-id`; unique.',
      pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$',
      errorMessage: 'must be 1 to 63 letters, digits, dots, hyphens and underscores, the first a letter or digit',
    }),
    name: Type.Optional(text('Name, as people read it. Absent: the id.')),
    secrets: Type.Array(clientSecret, {
      description: 'One secret, or two while one replaces the other.',
      minItems: 1,
      maxItems: 2,
    }),
    scopes: Type.Array(choice(scopes, { description: 'A scope.' }), {
      description: 'What the client may do.',
      minItems: 1,
      uniqueItems: true,
    }),
    grants: Type.Array(grant, { description: 'The EHRs that the client may use.', minItems: 1 }),
  },
  { additionalProperties: false },
);

export const limitsSchema = Type.Object(
  {
    requests_per_minute: Type.Optional(
      wholeNumber('Requests of one client in a minute.', { minimum: 1, maximum: 100_000_000, default: 6000 }),
    ),
    failed_credentials: Type.Optional(
      wholeNumber('Wrong secrets of one address, or for one client id, before more of them have to wait.', {
        minimum: 1,
        maximum: 100_000_000,
        default: 20,
      }),
    ),
  },
  { description: 'Limits for each client.', additionalProperties: false },
);

const identifierHeaders = Type.Array(
  Type.String({
    description: 'Name of a request header.',
    pattern: "^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,40}$",
    errorMessage: 'must be the name of a request header, of at most 40 characters',
  }),
  {
    description:
      'Request headers that `header:{name}` may name beside those that begin with `x-`, such as `patient-number`.',
    uniqueItems: true,
  },
);

export const retentionSchema = Type.Object(
  {
    confirmation_days: Type.Optional(
      wholeNumber(
        'Days after which the record of a code that has served or run out, and of its messages, is deleted.',
        { minimum: 1, maximum: 3650, default: 90 },
      ),
    ),
  },
  { description: 'How long the gateway keeps what has served.', additionalProperties: false },
);

/**
 * The JSON Schema (2020-12) of the configuration file, with each connector's settings in place. A connector's
 * `settingsSchema` must stand by itself: without `$ref`, or with an `$id` of its own.
 */
export function configurationSchema(connectors: readonly ConnectorModule[]) {
  return Type.Object(
    {
      emrs: Type.Array(emr(connectors), { description: 'The EHRs behind the gateway.', minItems: 1 }),
      clients: Type.Array(client, { description: 'Who may call the gateway.' }),
      messages: Type.Optional(messagesSchema),
      limits: Type.Optional(limitsSchema),
      identifier_headers: Type.Optional(identifierHeaders),
      http: Type.Optional(httpSchema),
      retention: Type.Optional(retentionSchema),
    },
    {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      title: 'Crossward configuration',
      description: 'EHRs, clients and message channels of a Crossward gateway.',
      additionalProperties: false,
    },
  );
}

/** The file as it is written: secrets by reference, defaults absent. */
export type ConfigurationFile = Static<ReturnType<typeof configurationSchema>>;
