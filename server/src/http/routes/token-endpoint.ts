import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import Type from 'typebox';
import { inContext } from '../../api/context-of.ts';
import { grantToken, type TokenServices } from '../../oauth/grant-token.ts';
import { serverMetadata, serverMetadataPath } from '../../oauth/server-metadata.ts';
import { TokenError, tokenErrors } from '../../oauth/token-error.ts';
import { Problem, problemAt } from '../../problems/problem.ts';
import type { Rejections } from '../limits/rejected-credentials.ts';
import { describedProblems, responseHeaders } from '../openapi/openapi-problems.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** What the OpenAPI document says about a route that is no endpoint. */
    described?: object;
    /** Describes the gateway, without credentials: see `http.discovery_origins`. */
    isDiscovery?: boolean;
  }
}

/** An assertion with a key of 4096 bits is some 1,000 characters long. */
const formLimit = 16 * 1024;
const mediaType = 'application/x-www-form-urlencoded';

const formSchema = Type.Object({
  grant_type: Type.Unsafe<string>({ type: 'string', enum: ['client_credentials'] }),
  client_assertion_type: Type.Unsafe<string>({
    type: 'string',
    enum: ['urn:ietf:params:oauth:client-assertion-type:jwt-bearer'],
  }),
  client_assertion: Type.String({
    description:
      'A JWT that the client has signed (RS384, ES384 or EdDSA), with `kid` in its header (not needed if the client has one key), `iss` and `sub` the client id, `aud` the URL of this endpoint or the `issuer` in `/.well-known/oauth-authorization-server`, `exp` at most five minutes ahead, and a `jti` of its own.',
  }),
  scope: Type.Optional(
    Type.String({
      description:
        "System scopes of SMART App Launch 2.2 and the gateway's own, separated by spaces. Default: all of the gateway's own that the client has.",
    }),
  ),
  client_id: Type.Optional(Type.String({ description: 'The issuer of the assertion. Not needed.' })),
});

const tokenSchema = Type.Object({
  access_token: Type.String(),
  token_type: Type.Literal('Bearer'),
  expires_in: Type.Integer({ description: 'Seconds.' }),
  scope: Type.String({ description: 'What was granted, which can be less than what was asked for.' }),
});

const errorSchema = Type.Object({
  error: Type.Unsafe<string>({ type: 'string', enum: Object.keys(tokenErrors) }),
  error_description: Type.String(),
});

const description = `OAuth 2.0 client credentials with \`private_key_jwt\` (RFC 6749, RFC 7523), as in SMART Backend Services. The access
token goes into the header \`authorization: Bearer …\` of requests. Errors are those of RFC 6749, section 5.2.`;

interface Dependencies extends TokenServices {
  readonly rejections: Rejections;
  /** Counts a request of a client. @throws Problem `rate_limited` */
  count(clientId: string, reply: FastifyReply): Promise<void> | undefined;
}

/** `POST /api/oauth/token`, and the metadata that leads there. */
export async function addTokenEndpoint(app: FastifyInstance, deps: Dependencies): Promise<void> {
  app.get(serverMetadataPath, { config: { isDiscovery: true } }, async () =>
    serverMetadata(deps.issuer(), deps.tokenUrl()),
  );
  await app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser(mediaType, { parseAs: 'string', bodyLimit: formLimit }, (_request, body, done) =>
      done(null, new URLSearchParams(String(body))),
    );
    scope.addContentTypeParser('*', (_request, _payload, done) => {
      const text = `The content type must be ${mediaType}.`;
      done(problemAt({ in: 'header', header: 'content-type' }, 'media_type_unsupported', text));
    });
    scope.post('/api/oauth/token', {
      // Without a schema: the form is checked by the rules of OAuth, whose errors have a format of their own.
      config: { described },
      bodyLimit: formLimit,
      handler: inContext(async (request: FastifyRequest, reply: FastifyReply) => {
        try {
          const form = request.body instanceof URLSearchParams ? request.body : new URLSearchParams();
          return await grantToken(deps, form, async (client) => {
            request.access = { client };
            await deps.count(client.id, reply);
          });
        } catch (error) {
          if (error instanceof Problem && error.status === 429) return tooMany(error, request, reply);
          if (!(error instanceof TokenError)) throw error;
          const { code, description: error_description, clientId, forOperators } = error;
          if (forOperators !== undefined) {
            request.log.warn({ client: clientId, failure: forOperators }, 'the keys of a client were not read');
          }
          if (code === 'invalid_client') {
            const throttled = await deps.rejections.ofAssertion(request, clientId);
            if (throttled) return tooMany(throttled, request, reply);
          }
          return reply.code(400).send({ error: code, error_description });
        }
      }),
    });
  });
}

/** RFC 6749 has no error for it in section 5.2. That of section 4.1.2.1 says that a later request can succeed. */
function tooMany(problem: Problem, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  request.problem = problem;
  const error_description = problem.detail ?? tokenErrors.temporarily_unavailable;
  return reply.code(429).headers(problem.headers).send({ error: 'temporarily_unavailable', error_description });
}

const errorExamples = Object.fromEntries(
  Object.entries(tokenErrors).map(([error, text]) => [
    error,
    { summary: text, value: { error, error_description: text } },
  ]),
);

const reasons = [
  'request_invalid',
  'content_too_large',
  'uri_too_long',
  'media_type_unsupported',
  'rate_limited',
  'headers_too_large',
  'internal_error',
  'overloaded',
  'database_unavailable',
] as const;
const problems = describedProblems(
  reasons.map((reason) => new Problem(reason)),
  responseHeaders,
);

const described = {
  operationId: 'create_access_token',
  summary: 'Get an access token',
  description,
  tags: ['Access'],
  security: [],
  body: { content: { [mediaType]: { schema: formSchema } } },
  response: {
    ...problems,
    200: {
      description: 'The access token.',
      headers: responseHeaders,
      content: {
        'application/json': {
          schema: tokenSchema,
          example: {
            access_token: 'eyJhbGciOiJIUzI1NiJ9.e30.c2ln',
            token_type: 'Bearer',
            expires_in: 300,
            scope: 'system/Appointment.rs',
          },
        },
      },
    },
    429: {
      ...problems[429],
      content: {
        'application/json': {
          schema: errorSchema,
          examples: { temporarily_unavailable: errorExamples.temporarily_unavailable },
        },
        ...problems[429]?.content,
      },
    },
    400: {
      description: `${Object.keys(tokenErrors)
        .filter((code) => code !== 'temporarily_unavailable')
        .map((code) => `\`${code}\``)
        .join(', ')}, as a problem: ${problems[400]?.description}`,
      headers: responseHeaders,
      content: { 'application/json': { schema: errorSchema, examples: errorExamples }, ...problems[400]?.content },
    },
  },
};
