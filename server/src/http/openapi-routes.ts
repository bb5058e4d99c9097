import { readFile } from 'node:fs/promises';
import type { FastifyInstance } from 'fastify';
import { stringify } from 'yaml';
import { forReaders } from './docs-document.ts';
import { once } from './once.ts';

/** `npm run openapi` generates the file from the endpoints. */
const file = new URL('../../openapi.json', import.meta.url);

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
