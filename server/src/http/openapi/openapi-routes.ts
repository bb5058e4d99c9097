import { readFile } from 'node:fs/promises';
import type { FastifyInstance } from 'fastify';
import { stringify } from 'yaml';
import { once } from '../once.ts';

/** `npm run openapi` generates the file from the endpoints. */
const file = new URL('../../../openapi.json', import.meta.url);

/** Path of the document for the API reference. */
export const referencePath = '/docs/reference.json';

/** Serves the OpenAPI document, without authentication. It is read with the first request, because it is large. */
export function addOpenApiRoutes(app: FastifyInstance): void {
  const document = async () => JSON.parse(await readFile(file, 'utf8'));
  const reference = once(async () => JSON.stringify(forReaders(await document())));
  const json = once(async () => JSON.stringify(await document()));
  const yaml = once(async () => stringify(await document()));
  app.get('/api/openapi.json', async (_request, reply) =>
    reply.type('application/json; charset=utf-8').send(await json()),
  );
  app.get('/api/openapi.yaml', async (_request, reply) =>
    reply.type('application/yaml; charset=utf-8').send(await yaml()),
  );
  app.get(referencePath, async (_request, reply) =>
    reply.type('application/json; charset=utf-8').send(await reference()),
  );
}

type Json = Record<string, unknown>;

/**
 * The OpenAPI document as the API reference shows it. The reference shows responses in the order of their status, so the
 * preview of a dry run (200) would come before the response to a booking (201). A range of codes comes last.
 *
 * @internal for the test
 */
export function forReaders(document: { readonly paths: Readonly<Record<string, Json>> }): object {
  const paths = mapValues(document.paths, (path) =>
    mapValues(path, (operation) => {
      const { responses } = operation as { readonly responses?: Json };
      if (!responses) return operation;
      const { 200: preview, ...others } = responses;
      const isWrite = preview !== undefined && '201' in others;
      return isWrite ? { ...(operation as Json), responses: { ...others, '2XX': preview } } : operation;
    }),
  );
  return { ...document, paths };
}

function mapValues<Value, Result>(values: Readonly<Record<string, Value>>, map: (value: Value) => Result) {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, map(value)]));
}
