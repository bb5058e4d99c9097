import Type from 'typebox';
import { settingText, webAddress, wholeNumber } from './schema-parts.ts';

/** Settings of the HTTP server. */
export const httpSchema = Type.Object(
  {
    public_url: Type.Optional(
      Type.String({
        ...webAddress(
          'URL under which patients reach the gateway, such as `https://appointments.example.org`. Enables the page on which patients enter a code.',
        ),
        maxLength: 100,
      }),
    ),
    api_url: Type.Optional(
      Type.String({
        ...webAddress(
          'URL under which clients reach the gateway, without `/api`. Assertions and access tokens name it. Default: `public_url`, otherwise the loopback address with `PORT`.',
        ),
        maxLength: 200,
      }),
    ),
    trusted_proxies: Type.Optional(
      Type.Array(settingText('An IP address, or a range such as `10.0.0.0/8`.'), {
        description: 'Proxies whose `X-Forwarded-For` header is trusted for the address of the caller.',
        uniqueItems: true,
        default: [],
      }),
    ),
    discovery_origins: Type.Optional(
      Type.Array(
        Type.String({
          description: 'An origin, such as `https://portal.example.org`, or `*` for any.',
          pattern: '^(\\*|https?://[^/?#@\\s]+)$',
          errorMessage: 'must be an origin, such as https://portal.example.org without a path, or *',
        }),
        {
          description:
            'Web pages that may read how to reach the gateway: `.well-known/oauth-authorization-server`, and in FHIR `.well-known/smart-configuration` and `metadata`.',
          uniqueItems: true,
          default: [],
        },
      ),
    ),
    request_timeout_seconds: Type.Optional(
      wholeNumber('Time-out for receiving a complete request with its body, in seconds.', {
        minimum: 1,
        maximum: 3600,
        default: 60,
      }),
    ),
    max_connections: Type.Optional(
      wholeNumber('Maximum number of concurrent connections.', { minimum: 1, maximum: 1_000_000, default: 5000 }),
    ),
    max_connections_per_address: Type.Optional(
      wholeNumber('Maximum number of concurrent connections per address. Does not apply to trusted proxies.', {
        minimum: 1,
        maximum: 1_000_000,
        default: 500,
      }),
    ),
    operations_port: Type.Optional(
      wholeNumber(
        'Port for `/health` and `/metrics`, which are then missing on `PORT`. The first process listens on this port, the second on the next one, and so on.',
        { minimum: 1, maximum: 65_535 },
      ),
    ),
    drain_seconds: Type.Optional(
      wholeNumber(
        'Seconds after SIGTERM in which the gateway still serves requests while `/health/ready` is 503 and each response closes its connection, so that proxies send the next ones elsewhere. Longer than proxies take to notice. SIGINT (Ctrl-C) does not wait, and a second signal ends the wait.',
        { minimum: 0, maximum: 300, default: 5 },
      ),
    ),
    ready_waits_for_emrs: Type.Optional(
      Type.Boolean({
        description: 'Whether `/health/ready` is 503 until every EHR has been opened once.',
        default: false,
      }),
    ),
  },
  { description: 'HTTP server.', additionalProperties: false },
);
