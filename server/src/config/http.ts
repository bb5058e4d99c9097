import Type from 'typebox';
import { text, wholeNumber } from './schema-parts.ts';

/** How callers reach the gateway. */
export const httpSchema = Type.Object(
  {
    trusted_proxies: Type.Optional(
      Type.Array(text('An IP address, or a range such as `10.0.0.0/8`.'), {
        description: 'Proxies whose `X-Forwarded-For` tells the address of the caller.',
        uniqueItems: true,
        default: [],
      }),
    ),
    request_timeout_seconds: Type.Optional(
      wholeNumber('Seconds in which a request must have arrived, with its body.', {
        minimum: 1,
        maximum: 3600,
        default: 60,
      }),
    ),
    max_connections: Type.Optional(
      wholeNumber('Connections at a time.', { minimum: 1, maximum: 1_000_000, default: 5000 }),
    ),
    max_connections_per_address: Type.Optional(
      wholeNumber('Connections of one address at a time; trusted proxies have no such limit.', {
        minimum: 1,
        maximum: 1_000_000,
        default: 500,
      }),
    ),
    ready_waits_for_emrs: Type.Optional(
      Type.Boolean({
        description: 'Whether `/health/ready` is 503 until every EHR has been opened once.',
        default: false,
      }),
    ),
  },
  { description: 'How callers reach the gateway.', additionalProperties: false },
);
