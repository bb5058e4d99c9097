import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { type Gateway, startGateway } from '../gateway/gateway.ts';
import { usePython } from './environment.ts';

const python = usePython(new URL('requirements.txt', import.meta.url));

let gateway: Gateway;
/** The OpenAPI description, as the gateway publishes it. */
let description: string;

beforeAll(async () => {
  gateway = await startGateway();
  description = join(inject('runFolder'), 'openapi.json');
  await writeFile(description, await (await fetch(`${address()}/api/openapi.json`)).text());
});

afterAll(() => gateway?.close());

function address(): string {
  return `http://127.0.0.1:${gateway.port}`;
}

test('the OpenAPI description passes openapi-spec-validator', async () => {
  expect(await python.run(['-m', 'openapi_spec_validator', description])).toMatch(/: OK\s*$/);
});

test('a client that openapi-python-client generates without warnings books an appointment and stores a document', async () => {
  const folder = join(inject('runFolder'), 'python-client');
  const options = ['--meta', 'none', '--fail-on-warning', '--output-path', join(folder, 'crossward_client')];
  await python.run(['-m', 'openapi_python_client', 'generate', '--path', description, ...options]);

  const { id, secret } = gateway.credentials('everything');
  const output = await python.run([fileURLToPath(new URL('book.py', import.meta.url))], {
    path: [folder],
    variables: {
      CROSSWARD_URL: address(),
      CROSSWARD_CLIENT_ID: id,
      CROSSWARD_CLIENT_SECRET: secret,
    },
  });
  expect(JSON.parse(output)).toEqual({
    patient: 'Lykkelig',
    preview: 'created',
    status: 'booked',
    start: '2030-03-15T09:00:00+01:00',
    same: true,
    taken: true,
    document: ['Referral', 'application/pdf', true],
    cancelled: ['cancelled', true],
  });
});
