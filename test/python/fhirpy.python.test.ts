import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Gateway, startGateway } from '../gateway/gateway.ts';
import { type Receiver, startReceiver, withQuickWebhooks } from '../requests/webhook-receiver.ts';
import { usePython } from './environment.ts';

const python = usePython(new URL('requirements-fhir.txt', import.meta.url));

let gateway: Gateway;
let receiver: Receiver;
beforeAll(async () => {
  gateway = await startGateway({ configure: withQuickWebhooks });
  receiver = await startReceiver();
});
afterAll(async () => {
  await gateway?.close();
  await receiver?.close();
});

test('fhirpy, which knows only FHIR, finds a time, books, is refused, pages, moves, cancels and subscribes', async () => {
  const { id, secret } = gateway.credentials('everything');
  const output = await python.run([fileURLToPath(new URL('book_in_fhir.py', import.meta.url))], {
    variables: {
      FHIR_BASE: `http://127.0.0.1:${gateway.port}/api/emrs/sandbox-no/care-units/oslo-sentrum/fhir-r4`,
      RECEIVER: receiver.url,
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
    refreshed: [['value'], false],
    cancelled: ['cancelled', true],
    subscribed: ['active', 'another', true],
  });
});
