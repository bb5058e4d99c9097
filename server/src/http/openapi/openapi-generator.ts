import swagger from '@fastify/swagger';
import type { FastifyInstance } from 'fastify';
import packageJson from '../../../package.json' with { type: 'json' };
import { type AnyEndpoint, isRead } from '../../api/endpoint.ts';
import { scopes } from '../../config/schema/schema.ts';
import { nativeEndpoints } from '../endpoints.ts';
import { introduction } from './openapi-introduction.ts';
import { problemResponses, responseHeaders } from './openapi-problems.ts';
import { openApiWebhooks } from './openapi-webhooks.ts';

type Json = Record<string, unknown>;

/**
 * Adds `app.swagger()`, which generates the OpenAPI description from the endpoints. Must be added before them. The gateway
 * itself serves the generated file, so that it does not load the generator.
 */
export async function addOpenApiGenerator(app: FastifyInstance): Promise<void> {
  await app.register(swagger, {
    convertConstToEnum: false,
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Crossward',
        version: packageJson.version,
        description: introduction,
        license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      },
      servers: [{ url: '/' }],
      security: [{ clientId: [], clientSecret: [] }, { accessToken: [] }],
      components: {
        securitySchemes: {
          clientId: { type: 'apiKey', in: 'header', name: 'x-service-client-id' },
          clientSecret: { type: 'apiKey', in: 'header', name: 'x-service-client-secret' },
          accessToken: {
            type: 'oauth2',
            description: 'An access token of five minutes, for a client with a private key.',
            flows: { clientCredentials: { tokenUrl: '/api/oauth/token', scopes: describedScopes } },
          },
        },
      },
    },
    refResolver: { buildLocalReference: (json, _baseUri, _fragment, index) => String(json.$id ?? `inline-${index}`) },
    transform: ({ schema, url, route }) => {
      const { endpoint, described } = route.config ?? {};
      if (described && route.method !== 'HEAD') return { schema: described, url };
      if (!endpoint || endpoint.representation || route.method === 'HEAD')
        return { schema: { ...schema, hide: true }, url };
      const headers = isRead(endpoint) ? commonHeaders : writeHeaders;
      const { body, ...rest } = schema ?? {};
      return {
        schema: { ...rest, ...bodyOf(endpoint, body), headers, ...responses(schema, endpoint) },
        url,
      };
    },
    transformObject: (document) => {
      if (!('openapiObject' in document)) throw new Error('Only OpenAPI 3 is generated');
      const { openapiObject } = document;
      addExamples(openapiObject.paths as Record<string, Record<string, Json>>);
      return Object.assign(openapiObject, { webhooks: openApiWebhooks });
    },
  });
}

const commonHeaders = {
  type: 'object',
  properties: {
    'x-service-standard': {
      type: 'string',
      enum: ['native'],
      description: 'The standard that response bodies follow. Defaults to `native`.',
    },
    'x-request-id': {
      type: 'string',
      description:
        'A UUID, a ULID or a trace id (32 hexadecimal digits), with a letter in it. Echoed in the response; generated if absent or invalid.',
    },
  },
};

const writeHeaders = {
  type: 'object',
  properties: {
    ...commonHeaders.properties,
    'idempotency-key': {
      type: 'string',
      pattern: '^[\\x20-\\x7e]{1,255}$',
      description:
        'A unique key for this request. A retry with the same key and the same request within 24 hours gets the stored response.',
    },
  },
};

/** The gateway's own scopes. Those of SMART are in the guide. */
const describedScopes = Object.fromEntries(scopes.map((scope) => [scope, '']));

function bodyOf({ body: declared, form }: AnyEndpoint, body: unknown): object {
  if (!declared) return {};
  if (!form) return { body };
  return { body: { content: { 'application/json': { schema: declared }, 'multipart/form-data': { schema: form } } } };
}

function responses(schema: { response?: unknown } | undefined, endpoint: AnyEndpoint) {
  const { status, description, existing } = endpoint.response;
  const { preview } = endpoint;
  const schemas = schema?.response as Record<string, { $id?: string }> | undefined;
  const declared = schemas?.[String(status)];
  const success = declared?.$id ? { $ref: declared.$id } : declared;
  return {
    response: {
      [status]: {
        description,
        headers: {
          ...responseHeaders,
          ...(isRead(endpoint)
            ? {}
            : {
                'idempotency-replayed': {
                  type: 'string',
                  description: 'Set to `true` when a stored response is replayed.',
                },
              }),
          ...(status === 201 ? { location: { type: 'string', description: 'Path of the created object.' } } : {}),
        },
        ...(status === 204
          ? { type: 'null' }
          : {
              content: endpoint.response.mediaTypes
                ? Object.fromEntries(
                    endpoint.response.mediaTypes.map((type) => [type, { schema: endpoint.response.schema }]),
                  )
                : {
                    'application/json': { schema: preview && status === 200 ? { anyOf: [preview, success] } : success },
                  },
            }),
      },
      ...(preview && status !== 200
        ? {
            200: {
              description: 'The preview of a dry run.',
              headers: responseHeaders,
              content: { 'application/json': { schema: preview } },
            },
          }
        : {}),
      ...(existing !== undefined
        ? {
            200: {
              description: existing,
              headers: responseHeaders,
              content: { 'application/json': { schema: success } },
            },
          }
        : {}),
      ...problemResponses(endpoint, responseHeaders),
    },
  };
}

function addExamples(paths: Record<string, Record<string, Json>>): void {
  for (const path of Object.values(paths)) {
    for (const documented of Object.values(path)) {
      const endpoint = nativeEndpoints.find(({ operationId }) => operationId === documented.operationId);
      if (!endpoint) continue;
      const { params = {}, query = {}, body, response } = endpoint.examples;
      for (const parameter of (documented.parameters ?? []) as Json[]) {
        const example = parameter.in === 'path' ? params[String(parameter.name)] : query[String(parameter.name)];
        if (example !== undefined) parameter.example = example;
      }
      if (body !== undefined) setExample(documented.requestBody as Json, body);
      setExample((documented.responses as Record<string, Json>)[endpoint.response.status], response);
    }
  }
}

function setExample(holder: Json | undefined, example: unknown): void {
  const media = (holder?.content as Record<string, Json> | undefined)?.['application/json'];
  if (media) media.example = example;
}
