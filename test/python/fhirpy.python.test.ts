import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Gateway, startGateway } from '../gateway/gateway.ts';
import { usePython } from './environment.ts';

const python = usePython(new URL('requirements-fhir.txt', import.meta.url));

let gateway: Gateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway?.close());

test('fhirpy, which knows only FHIR, finds a time, books, is refused, pages, moves and cancels', async () => {
  const { id, secret } = gateway.credentials('everything');
  const output = await python.run([fileURLToPath(new URL('book_in_fhir.py', import.meta.url))], {
    variables: {
      FHIR_BASE: `http://127.0.0.1:${gateway.port}/api/emrs/sandbox-no/care-units/oslo-sentrum/fhir-r4`,
      CROSSWARD_CLIENT_ID: id,
      CROSSWARD_CLIENT_SECRET: secret,
    },
  });
  expect(JSON.parse(output)).toEqual({
    valid: true,
    booked: ['booked', true],
    taken: ['conflict'],
    conditional: ['value'],
    paged: [true, true, true],
    moved: true,
    cancelled: ['cancelled', true],
  });
});
