import type { ConnectorModule } from '@crossward/connector-kit';
import Type, { type Static, type TSchema } from 'typebox';
import { clientKeysSchema } from '../rules/client-keys.ts';
import { budgetProperties, clientBudgetsSchema } from './client-budgets.ts';
import { connectionSchema } from './connection.ts';
import { consoleSchema } from './console.ts';
import { httpSchema } from './http.ts';
import { identifierTypesSchema } from './identifier-types.ts';
import { messagesSchema } from './messages.ts';
import { patientPageSchema } from './patient-page.ts';
import { policiesSchema } from './policies.ts';
import { publicationSchema } from './publication.ts';
import { environmentReference, id, settingChoice, settingText, webAddress, wholeNumber } from './schema-parts.ts';
import { servicesSchema } from './services.ts';
import { webhooksSchema } from './webhooks.ts';

/** The scopes that a client can have. */
export const scopes = [
  'appointments:read',
  'appointments:write',
  'patients:read',
  'patients:write',
  'accesses:read',
  'notes:read',
  'notes:write',
  'documents:read',
  'documents:write',
  'resources:read',
  'schedules:write',
  'webhooks:manage',
] as const;
export type Scope = (typeof scopes)[number];

export function isScope(text: string): text is Scope {
  return (scopes as readonly string[]).includes(text);
}

function settings(description: string) {
  return Type.Unsafe<Record<string, unknown>>({ type: 'object', description });
}

const defaultCountry = Type.Optional(
  Type.String({
    description:
      'Country of phone numbers that the EHR has without a country code, as in ISO 3166-1 alpha-2, such as `SE`. Without it, no SMS goes to them.',
    pattern: '^[A-Z]{2}$',
    errorMessage: 'must be two capital letters, such as SE',
  }),
);

const careUnit = Type.Object(
  {
    id: id('`{care_unit_id}` in URL paths. Unique within the EHR.'),
    name: settingText('Display name.'),
    time_zone: settingText('IANA time zone of local times, such as `Europe/Oslo`.'),
    language: settingChoice(['nb', 'sv', 'en'], { description: 'Language of messages to patients.' }),
    default_country: defaultCountry,
    policies: Type.Optional(policiesSchema),
    patient_page: Type.Optional(patientPageSchema),
    publication: Type.Optional(publicationSchema),
    settings: Type.Optional(settings('Settings of the connector for this care unit.')),
  },
  { additionalProperties: false },
);

export const connectorDescription =
  'Connector for this kind of EHR: a built-in one, or a plug-in: the name of an installed package, or the path of a file relative to this file, such as `./our-ehr.js`.';

/** A connector as a configuration file names it. */
export interface ConnectorSchema extends Pick<ConnectorModule, 'settingsSchema'> {
  /** The name of a built-in connector, a package, or a file. */
  readonly name: string;
}

/** One EHR. */
export function emrInFileSchema(
  connectors: readonly ConnectorSchema[],
  connector: TSchema = connectorName(connectors),
) {
  return Type.Object(
    {
      id: id('`{emr}` in URL paths. Unique.'),
      name: settingText('Display name.'),
      connector: Type.Unsafe<string>(connector),
      settings: Type.Optional(settings('Settings of the connector. Write a secret as `{ env: NAME }`.')),
      synthetic_identifiers: Type.Optional(
        Type.Boolean({
          description: 'Accepts national numbers from the ranges reserved for synthetic people.',
          default: false,
        }),
      ),
      check_digits: Type.Optional(
        settingChoice(['enforce', 'ignore'], {
          description:
            'Whether numbers must have correct check digits. `ignore` is for test data with invented ones, and needs `synthetic_identifiers`: no text is searched for such numbers.',
          default: 'enforce',
        }),
      ),
      reserve_numbers: Type.Optional(
        Type.Boolean({
          description:
            'Accepts Swedish reserve numbers as `se_personal_number`. Those with a letter have no check digit.',
          default: false,
        }),
      ),
      default_country: defaultCountry,
      connection: Type.Optional(connectionSchema),
      policies: Type.Optional(policiesSchema),
      patient_page: Type.Optional(patientPageSchema),
      care_units: Type.Array(careUnit, { description: 'Care units of the EHR.', minItems: 1 }),
    },
    { additionalProperties: false, allOf: connectors.map(settingsOf) },
  );
}

function connectorName(connectors: readonly ConnectorSchema[]): TSchema {
  return Type.String({ enum: connectors.map(({ name }) => name), description: connectorDescription });
}

function settingsOf({ name, settingsSchema }: ConnectorSchema) {
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
    environmentReference('Environment variable with the secret, which must have at least 32 characters.'),
  ],
  { errorMessage: 'must be { sha256: HASH } or { env: NAME }; never write the secret itself in this file' },
);

const grant = Type.Object(
  {
    emr: id('Id of the EHR.'),
    care_units: Type.Optional(
      Type.Array(id('Id of a care unit.'), {
        description: 'Care units that the client may use. Defaults to all care units of the EHR.',
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
      description: 'The value of the `x-service-client-id` header, and the issuer of its assertions. Unique.',
      pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$',
      errorMessage:
        'must be 1 to 63 letters, digits, dots, hyphens and underscores, and must start with a letter or digit',
    }),
    name: Type.Optional(settingText('Display name. Defaults to the id.')),
    secrets: Type.Optional(
      Type.Array(clientSecret, {
        description: 'One secret, or two during a rotation. None: the client has keys.',
        minItems: 1,
        maxItems: 2,
      }),
    ),
    jwks: Type.Optional(clientKeysSchema),
    jwks_uri: Type.Optional(
      Type.String({
        ...webAddress(
          'URL of the public keys of the client, as a JWK Set. The gateway reads it when the client asks for a token. It follows the rules of `webhooks.allow_http` and `webhooks.allow_private_addresses`.',
        ),
        maxLength: 2000,
      }),
    ),
    scopes: Type.Array(settingChoice(scopes, { description: 'A scope.' }), {
      description: 'Scopes of the client.',
      minItems: 1,
      uniqueItems: true,
    }),
    grants: Type.Array(grant, { description: 'The EHRs that the client may use.', minItems: 1 }),
    budgets: Type.Optional(clientBudgetsSchema),
    return_urls: Type.Optional(
      Type.Array(webAddress('A URL of the client.'), {
        description:
          'Where the page for patients may link back to. A `return_url` must have the origin of one of these, and its path or a longer one. No link if omitted.',
        maxItems: 20,
        uniqueItems: true,
      }),
    ),
  },
  { additionalProperties: false },
);

/** A grant as it is written: without care units, all of the EHR. */
export type Grant = Static<typeof grant>;

const { secrets: _, ...factsOfClients } = client.properties;
/** A client that operators manage: as one of the file, without its secrets. */
export const clientFactsSchema = Type.Object(factsOfClients, { additionalProperties: false });
export type ClientFacts = Static<typeof clientFactsSchema>;

export const limitsSchema = Type.Object(
  {
    requests_per_minute: Type.Optional(
      wholeNumber('Maximum number of requests per client and minute.', {
        minimum: 1,
        maximum: 100_000_000,
        default: 6000,
      }),
    ),
    page_requests_per_minute: Type.Optional(
      wholeNumber(
        'Maximum number of requests per minute to the page for patients (per address, and per link) and to the console (per address).',
        {
          minimum: 1,
          maximum: 100_000_000,
          default: 120,
        },
      ),
    ),
    failed_credentials: Type.Optional(
      wholeNumber(
        'Number of incorrect secrets, per address and per client id, after which further ones are throttled.',
        {
          minimum: 1,
          maximum: 100_000_000,
          default: 20,
        },
      ),
    ),
    ...budgetProperties,
  },
  { description: 'Limits of requests, and budgets of each client.', additionalProperties: false },
);

const identifierHeaders = Type.Array(
  Type.String({
    description: 'Name of a request header.',
    pattern: "^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,40}$",
    errorMessage: 'must be the name of a request header with at most 40 characters',
  }),
  {
    description:
      'Request headers allowed in `header:{name}` in addition to those that start with `x-`, such as `patient-number`.',
    uniqueItems: true,
  },
);

/** Days. */
export const defaultEventDays = 30;

export const retentionSchema = Type.Object(
  {
    confirmation_days: Type.Optional(
      wholeNumber('Days after which a completed or expired confirmation and its messages are deleted.', {
        minimum: 1,
        maximum: 3650,
        default: 90,
      }),
    ),
    event_days: Type.Optional(
      wholeNumber(
        'Days after which an event and its deliveries are deleted; twice as many while a delivery is pending.',
        {
          minimum: 2,
          maximum: 3650,
          default: defaultEventDays,
        },
      ),
    ),
    audit_days: Type.Optional(
      wholeNumber('Days after which an entry of the audit trail is deleted.', {
        minimum: 1,
        maximum: 36500,
        default: 1830,
      }),
    ),
  },
  { description: 'How long the gateway stores data.', additionalProperties: false },
);

/** Formats in which the audit trail leaves the database. */
export const exportFormats = ['ndjson', 'balp'] as const;

export const auditSchema = Type.Object(
  {
    reads: Type.Optional(
      settingChoice(['relaxed', 'flushed'], {
        description:
          '`flushed`: a read waits until the disk of the database has its entry in the audit trail. `relaxed`: it waits for the commit only, and a crash of the database server can lose the entries of its last moments.',
        default: 'relaxed',
      }),
    ),
    export: Type.Optional(
      Type.Object(
        {
          file: settingText('File that entries are appended to. Absolute, or relative to the working directory.', {
            maxLength: 4096,
          }),
          format: Type.Optional(
            settingChoice([...exportFormats], {
              description: '`ndjson`: a JSON object for each entry. `balp`: FHIR R4 AuditEvents by IHE BALP.',
              default: 'ndjson',
            }),
          ),
        },
        { description: 'Writes the audit trail to a file, continuously.', additionalProperties: false },
      ),
    ),
  },
  { description: 'The audit trail.', additionalProperties: false },
);

export const documentSettingsSchema = Type.Object(
  {
    max_bytes: Type.Optional(
      wholeNumber('Maximum size of the content of a document, in bytes.', {
        minimum: 1024,
        maximum: 104_857_600,
        default: 10_485_760,
      }),
    ),
  },
  { description: 'Documents of patients.', additionalProperties: false },
);

/**
 * The JSON Schema (2020-12) of the configuration file, including the settings of each connector. A `settingsSchema` must
 * be self-contained: without `$ref`, or with its own `$id`.
 *
 * @param connector schema of the key `connector`. Default: the names of the connectors.
 */
export function configurationSchema(
  connectors: readonly ConnectorSchema[],
  connector: TSchema = connectorName(connectors),
) {
  return Type.Object(
    {
      emrs: Type.Array(emrInFileSchema(connectors, connector), {
        description: 'EHRs connected to the gateway. `[]`: only those that operators manage with `crossward emr`.',
      }),
      clients: Type.Array(client, { description: 'Clients that may call the gateway.' }),
      services: Type.Optional(servicesSchema),
      messages: Type.Optional(messagesSchema),
      limits: Type.Optional(limitsSchema),
      documents: Type.Optional(documentSettingsSchema),
      identifier_types: Type.Optional(identifierTypesSchema),
      identifier_headers: Type.Optional(identifierHeaders),
      http: Type.Optional(httpSchema),
      retention: Type.Optional(retentionSchema),
      audit: Type.Optional(auditSchema),
      webhooks: Type.Optional(webhooksSchema),
      console: Type.Optional(consoleSchema),
    },
    {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      title: 'Crossward configuration',
      description: 'EHRs, clients and message channels of a Crossward gateway.',
      additionalProperties: false,
    },
  );
}

/** The file as written: secrets as references, without defaults. */
export type ConfigurationFile = Static<ReturnType<typeof configurationSchema>>;
