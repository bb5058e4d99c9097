import { readFileSync } from 'node:fs';

interface Document {
  readonly paths: Readonly<Record<string, object>>;
}

/** The gateway's OpenAPI document, as it is served. `npm run openapi` renews it after a change of an operation. */
export const openapi: Document = JSON.parse(
  readFileSync(new URL('../../server/openapi.json', import.meta.url), 'utf8'),
);
