import Type, { type Static } from 'typebox';
import { Default } from 'typebox/value';
import { certificateFile, wholeNumber } from './schema-parts.ts';

const milliseconds = (description: string, options: { minimum: number; maximum: number; default: number }) =>
  Type.Optional(wholeNumber(`${description}, in milliseconds.`, options));

/** How the gateway treats the connection to an EHR. */
export const connectionSchema = Type.Object(
  {
    connect_timeout_ms: milliseconds('How long connecting may take, name look-up and TLS included', {
      minimum: 10,
      maximum: 60_000,
      default: 3000,
    }),
    request_timeout_ms: milliseconds('How long one HTTP request may take until its answer is read', {
      minimum: 10,
      maximum: 300_000,
      default: 10_000,
    }),
    timeout_ms: milliseconds('How long one operation may take, with every request and retry that belongs to it', {
      minimum: 10,
      maximum: 300_000,
      default: 20_000,
    }),
    concurrency: Type.Optional(
      wholeNumber('Operations at once, and connections to each host.', { minimum: 1, maximum: 1000, default: 20 }),
    ),
    queue: Type.Optional(
      wholeNumber(
        'Operations that may wait for their turn. Further ones are refused, those of the client with the most first.',
        {
          minimum: 0,
          maximum: 10_000,
          default: 500,
        },
      ),
    ),
    queue_timeout_ms: milliseconds('How long an operation waits for its turn at most', {
      minimum: 10,
      maximum: 60_000,
      default: 10_000,
    }),
    retries: Type.Optional(
      wholeNumber('How often an HTTP request that may be repeated is sent again.', {
        minimum: 0,
        maximum: 10,
        default: 2,
      }),
    ),
    breaker: Type.Optional(
      Type.Object(
        {
          failures: Type.Optional(
            wholeNumber('Failures in a row after which the EHR is left alone.', {
              minimum: 1,
              maximum: 1000,
              default: 5,
            }),
          ),
          reset_seconds: Type.Optional(
            wholeNumber('Seconds until one operation tries whether it is back.', {
              minimum: 1,
              maximum: 3600,
              default: 10,
            }),
          ),
        },
        { description: 'Leaving an EHR alone that does not answer.', additionalProperties: false, default: {} },
      ),
    ),
    settling_seconds: Type.Optional(
      wholeNumber(
        'Seconds after which a write of unknown outcome that the EHR shows nothing of counts as not done. Longer than the EHR itself may take to finish a request that was broken off.',
        { minimum: 1, maximum: 3600, default: 60 },
      ),
    ),
    give_up_seconds: Type.Optional(
      wholeNumber(
        'Seconds after a request until which its write may still be made in the EHR. After that it is only looked for.',
        {
          minimum: 1,
          maximum: 86_400,
          default: 600,
        },
      ),
    ),
    max_response_bytes: Type.Optional(
      wholeNumber('Size of the largest body that is read.', {
        minimum: 1024,
        maximum: 1_073_741_824,
        default: 10_485_760,
      }),
    ),
    allow_private_addresses: Type.Optional(
      Type.Boolean({
        description:
          'Whether the EHR may be on this machine or in a private network. Addresses that are link-local or serve the metadata of a cloud are refused even so.',
        default: false,
      }),
    ),
    ca_file: certificateFile,
  },
  {
    description: 'How the gateway treats the connection to the EHR.',
    additionalProperties: false,
  },
);
type ConnectionInFile = Static<typeof connectionSchema>;

/** Every setting settled; without `ca_file` only the usual authorities are trusted. */
export type ConnectionSettings = Readonly<
  Required<Omit<ConnectionInFile, 'breaker' | 'ca_file'>> & {
    breaker: Readonly<Required<NonNullable<ConnectionInFile['breaker']>>>;
    ca_file?: string;
  }
>;

export function resolveConnection(connection: ConnectionInFile = {}): ConnectionSettings {
  return Default(connectionSchema, { ...connection, breaker: { ...connection.breaker } }) as ConnectionSettings;
}
