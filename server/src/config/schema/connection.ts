import Type, { type Static } from 'typebox';
import { Default } from 'typebox/value';
import type { EnvironmentVariables } from '../environment/environment.ts';
import { type WithSecrets, withSecrets } from '../environment/references.ts';
import { certificateFile, environmentReference, settingText, wholeNumber } from './schema-parts.ts';

const milliseconds = (description: string, options: { minimum: number; maximum: number; default: number }) =>
  Type.Optional(wholeNumber(`${description}, in milliseconds.`, options));

const pem = (what: string) =>
  Type.Union(
    [
      settingText(`PEM file with ${what}. Absolute, or relative to the working directory.`, { maxLength: 4096 }),
      environmentReference(`Environment variable with ${what}, as PEM.`),
    ],
    {
      description: `PEM file with ${what}, or the environment variable that contains it.`,
      errorMessage: 'must be the path of a PEM file, or { env: NAME } with the name of an environment variable',
    },
  );

const tls = Type.Object(
  {
    client_certificate: pem("the gateway's certificate, followed by those of intermediate authorities"),
    client_key: pem("the certificate's private key, without a passphrase"),
  },
  {
    description: 'The certificate that the gateway shows to the EHR (mutual TLS). Changed files are read again.',
    additionalProperties: false,
  },
);
export type ClientCertificateSettings = WithSecrets<Static<typeof tls>>;

/** Settings of the connection to an EHR. */
export const connectionSchema = Type.Object(
  {
    connect_timeout_ms: milliseconds('Time-out for connecting, including DNS look-up and TLS handshake', {
      minimum: 10,
      maximum: 60_000,
      default: 3000,
    }),
    request_timeout_ms: milliseconds(
      'Time-out for one HTTP request, including reading the response. For the upload of a document: time without progress',
      {
        minimum: 10,
        maximum: 300_000,
        default: 10_000,
      },
    ),
    timeout_ms: milliseconds(
      'Time-out for one operation, including all its HTTP requests and retries. For the upload of a document: time without progress',
      { minimum: 10, maximum: 300_000, default: 20_000 },
    ),
    transfer_timeout_ms: milliseconds('Time-out for the whole upload or download of a document', {
      minimum: 1000,
      maximum: 3_600_000,
      default: 300_000,
    }),
    concurrency: Type.Optional(
      wholeNumber('Maximum number of concurrent operations, and of connections to each host.', {
        minimum: 1,
        maximum: 1000,
        default: 20,
      }),
    ),
    queue: Type.Optional(
      wholeNumber(
        'Maximum number of queued operations. If the queue is full, the client with the most queued operations loses its newest one.',
        {
          minimum: 0,
          maximum: 10_000,
          default: 500,
        },
      ),
    ),
    queue_timeout_ms: milliseconds('Maximum time that an operation waits in the queue', {
      minimum: 10,
      maximum: 60_000,
      default: 10_000,
    }),
    requests_per_second: Type.Optional(
      Type.Number({
        description:
          'Maximum rate of HTTP requests of all gateways that share the database. Without it, the rate is what the connector says, or not limited until the EHR limits it with 429 or a short Retry-After.',
        minimum: 0.1,
        maximum: 100_000,
      }),
    ),
    user_header: Type.Optional(
      Type.String({
        description:
          'Request header in which clients name the person who makes a request, for an EHR that wants one. Default: none.',
        pattern: '^[0-9A-Za-z-]{1,40}$',
        errorMessage: 'must be the name of a request header with at most 40 letters, digits and hyphens',
      }),
    ),
    retries: Type.Optional(
      wholeNumber('Maximum number of retries of an HTTP request that can be repeated safely.', {
        minimum: 0,
        maximum: 10,
        default: 2,
      }),
    ),
    breaker: Type.Optional(
      Type.Object(
        {
          failures: Type.Optional(
            wholeNumber('Consecutive failures after which the circuit breaker opens.', {
              minimum: 1,
              maximum: 1000,
              default: 5,
            }),
          ),
          reset_seconds: Type.Optional(
            wholeNumber('Seconds that the circuit breaker stays open before one operation tests the EHR.', {
              minimum: 1,
              maximum: 3600,
              default: 10,
            }),
          ),
        },
        {
          description: 'Circuit breaker: stops calls to an EHR that keeps failing.',
          additionalProperties: false,
          default: {},
        },
      ),
    ),
    settling_seconds: Type.Optional(
      wholeNumber(
        'Seconds after which a write with unknown outcome counts as not done if the EHR shows no effect of it. Must be longer than the EHR can take to finish an aborted request.',
        { minimum: 1, maximum: 3600, default: 60 },
      ),
    ),
    give_up_seconds: Type.Optional(
      wholeNumber(
        'Seconds after a request during which the gateway may still retry its write. After that, the gateway only checks whether the EHR made it.',
        {
          minimum: 1,
          maximum: 86_400,
          default: 600,
        },
      ),
    ),
    changes_seconds: Type.Optional(
      wholeNumber(
        'Pause between two readings of the changes that are made directly in the EHR, in seconds. 0: not read.',
        {
          minimum: 0,
          maximum: 86_400,
          default: 30,
        },
      ),
    ),
    max_response_bytes: Type.Optional(
      wholeNumber('Maximum size of a response body, in bytes.', {
        minimum: 1024,
        maximum: 1_073_741_824,
        default: 10_485_760,
      }),
    ),
    allow_private_addresses: Type.Optional(
      Type.Boolean({
        description:
          'Allows loopback and private addresses for the EHR. Link-local addresses and cloud metadata services are always rejected.',
        default: false,
      }),
    ),
    allow_plain_text: Type.Optional(
      Type.Boolean({
        description:
          'Allows http:// to another machine. Patients, national numbers and credentials can then be read and changed by anybody on the way. Loopback addresses need no permission.',
        default: false,
      }),
    ),
    ca_file: certificateFile,
    tls: Type.Optional(tls),
  },
  {
    description: 'Time-outs, limits and retries of the connection to the EHR.',
    additionalProperties: false,
  },
);
type ConnectionInFile = Static<typeof connectionSchema>;

/** The settings with defaults applied. Without `ca_file`, only the default authorities are trusted. */
export type ConnectionSettings = Readonly<
  Required<Omit<ConnectionInFile, 'breaker' | 'ca_file' | 'requests_per_second' | 'tls' | 'user_header'>> & {
    breaker: Readonly<Required<NonNullable<ConnectionInFile['breaker']>>>;
    ca_file?: string;
    requests_per_second?: number;
    tls?: ClientCertificateSettings;
    user_header?: string;
  }
>;

/** Applies the defaults and resolves secrets. */
export function resolveConnection(
  { tls, ...connection }: ConnectionInFile = {},
  variables: EnvironmentVariables = {},
): ConnectionSettings {
  const settings = Default(connectionSchema, { ...connection, breaker: { ...connection.breaker } });
  return { ...(settings as ConnectionSettings), ...(tls && { tls: withSecrets(tls, variables) }) };
}
