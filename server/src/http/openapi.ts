import swagger from '@fastify/swagger';
import type { FastifyInstance } from 'fastify';
import packageJson from '../../package.json' with { type: 'json' };
import type { AnyOperation } from '../api/route.ts';
import { problemSchema } from '../problems/problem-document.ts';
import { bodyLimits } from './json-body.ts';
import { problemResponses } from './openapi-problems.ts';

type Json = Record<string, unknown>;

const description = `One uniform HTTP/JSON interface over many electronic health record systems (EHRs).

Every operation needs the headers \`x-service-client-id\` and \`x-service-client-secret\`. Errors are RFC 9457 problem
details; \`reason\` is stable and machine-readable, and its page under \`/problems/{reason}\` says what to do.

Wherever a patient or resource identifier is a parameter, it can be given as \`{type}:{value}\`, as a bare value (an
\`emr_id\`), or as \`header:{header_name}\`, which keeps it out of URLs and bodies.

A body is JSON in UTF-8: at most 1 MiB, ${bodyLimits.depth} levels and ${bodyLimits.values} values, no name twice in an object.`;

/** Describes the interface from the operations themselves. Register before the first of them. */
export async function addOpenApi(app: FastifyInstance): Promise<void> {
  app.decorate('operations', new Map());
  app.addSchema(problemSchema);
  await app.register(swagger, {
    convertConstToEnum: false,
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Crossward',
        version: packageJson.version,
        description,
        license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      },
      servers: [{ url: '/' }],
      security: [{ clientId: [], clientSecret: [] }],
      components: {
        securitySchemes: {
          clientId: { type: 'apiKey', in: 'header', name: 'x-service-client-id' },
          clientSecret: { type: 'apiKey', in: 'header', name: 'x-service-client-secret' },
        },
      },
    },
    refResolver: { buildLocalReference: (json, _baseUri, _fragment, index) => String(json.$id ?? `inline-${index}`) },
    transform: ({ schema, url, route }) => {
      const operation = route.config?.operation;
      if (!operation || route.method === 'HEAD') return { schema: { ...schema, hide: true }, url };
      const headers = operation.method === 'GET' ? commonHeaders : writeHeaders;
      const { body, ...rest } = schema ?? {};
      return {
        schema: { ...rest, ...(operation.body ? { body } : {}), headers, ...responses(schema, operation) },
        url,
      };
    },
    transformObject: (document) => {
      if (!('openapiObject' in document)) throw new Error('Only OpenAPI 3 is generated');
      const { openapiObject } = document;
      addExamples(openapiObject.paths as Record<string, Record<string, Json>>, app.operations);
      return openapiObject;
    },
  });
}

/** The OpenAPI documents themselves, which need no credentials. */
export function addOpenApiRoutes(app: FastifyInstance): void {
  app.get('/api/openapi.json', async (_request, reply) => {
    return reply.type('application/json; charset=utf-8').serializer(JSON.stringify).send(app.swagger());
  });
  app.get('/api/openapi.yaml', async (_request, reply) => {
    return reply.type('application/yaml; charset=utf-8').send(app.swagger({ yaml: true }));
  });
}

const commonHeaders = {
  type: 'object',
  properties: {
    'x-service-standard': {
      type: 'string',
      enum: ['native'],
      description: 'The standard that response bodies follow.',
    },
    'x-request-id': {
      type: 'string',
      description:
        'A UUID, a ULID or 32 hexadecimal digits, which come back with the answer. Absent or anything else: a new one.',
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
      description: 'The same key and request within 24 hours get the first answer again.',
    },
  },
};

const answerHeaders = {
  'x-request-id': { type: 'string', description: "The caller's, or a new one." },
};

function responses(schema: { response?: unknown } | undefined, operation: AnyOperation) {
  const { status, description } = operation.answer;
  const { preview, method } = operation;
  const schemas = schema?.response as Record<string, { $id?: string }> | undefined;
  const declared = schemas?.[String(status)];
  const success = declared?.$id ? { $ref: declared.$id } : declared;
  return {
    response: {
      [status]: {
        description,
        headers: {
          ...answerHeaders,
          ...(method === 'GET'
            ? {}
            : { 'idempotency-replayed': { type: 'string', description: 'The first answer, again.' } }),
          ...(status === 201 ? { location: { type: 'string', description: 'Where the new one is.' } } : {}),
        },
        content: {
          'application/json': { schema: preview && status === 200 ? { anyOf: [preview, success] } : success },
        },
      },
      ...(preview && status !== 200
        ? {
            200: {
              description: 'A dry run: what would be.',
              headers: answerHeaders,
              content: { 'application/json': { schema: preview } },
            },
          }
        : {}),
      ...problemResponses(operation, answerHeaders),
    },
  };
}

function addExamples(paths: Record<string, Record<string, Json>>, operations: ReadonlyMap<string, AnyOperation>): void {
  for (const path of Object.values(paths)) {
    for (const documented of Object.values(path)) {
      const operation = operations.get(String(documented.operationId));
      if (!operation) continue;
      const { params = {}, query = {}, body, answer } = operation.examples;
      for (const parameter of (documented.parameters ?? []) as Json[]) {
        const example = parameter.in === 'path' ? params[String(parameter.name)] : query[String(parameter.name)];
        if (example !== undefined) parameter.example = example;
      }
      if (body !== undefined) setExample(documented.requestBody as Json, body);
      setExample((documented.responses as Record<string, Json>)[operation.answer.status], answer);
    }
  }
}

function setExample(holder: Json | undefined, example: unknown): void {
  const media = (holder?.content as Record<string, Json> | undefined)?.['application/json'];
  if (media) media.example = example;
}
