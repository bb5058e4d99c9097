import Type from 'typebox';
import { wholeNumber } from './schema-parts.ts';

/** Deliveries of events to webhook endpoints. */
export const webhooksSchema = Type.Object(
  {
    allow_private_addresses: Type.Optional(
      Type.Boolean({
        description:
          'Allows endpoints at loopback and private addresses. Link-local addresses and cloud metadata services are always rejected.',
        default: false,
      }),
    ),
    allow_http: Type.Optional(
      Type.Boolean({ description: 'Allows endpoints without TLS. For tests and closed networks.', default: false }),
    ),
    timeout_ms: Type.Optional(
      wholeNumber('Time-out of an attempt, from connecting to the end of the response, in milliseconds.', {
        minimum: 100,
        maximum: 60_000,
        default: 10_000,
      }),
    ),
    retry_seconds: Type.Optional(
      Type.Array(Type.Integer({ minimum: 0, maximum: 86_400 }), {
        description:
          'Pauses between attempts, in seconds. After the last one the delivery has failed. Default: 24 hours.',
        maxItems: 50,
        default: [5, 30, 120, 600, 1800, 3600, 7200, 14_400, 21_600, 36_000],
      }),
    ),
    max_endpoints: Type.Optional(
      wholeNumber('Maximum number of endpoints of a client.', { minimum: 0, maximum: 1000, default: 20 }),
    ),
  },
  { description: 'Delivery of events to webhook endpoints.', additionalProperties: false },
);
