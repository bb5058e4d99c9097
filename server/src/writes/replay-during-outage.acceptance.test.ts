/** @module-tag any-database */
import { ConnectorError } from '@crossward/connector-kit';
import { afterAll, expect, test } from 'vitest';
import { wrapConnector } from '../../../test/ehrs/other-ehrs.ts';
import { startGateway } from '../../../test/gateway/gateway.ts';
import { creationBody, freeSlot } from '../../../test/requests/bookings.ts';
import { creation, expectReplayed, keysOf, newKey } from '../../../test/requests/idempotency-keys.ts';

let isDown = false;
/** Look-ups of patients wait for it. */
let gate = Promise.resolve();
const gateway = await startGateway({
  connectors: [
    wrapConnector((connector) => ({
      ...connector,
      async findPatient(...input) {
        await gate;
        if (isDown) throw new ConnectorError('unavailable', 'Down');
        return (await connector.findPatient?.(...input)) ?? null;
      },
    })),
  ],
});
afterAll(() => gateway.close());
const { send } = keysOf(gateway);

test('a stored response is replayed while the EHR finds no patients', async () => {
  const slot = await freeSlot(gateway);
  const key = newKey();
  const first = await send(creation(slot), key);
  expect(first.status).toBe(201);
  isDown = true;
  expectReplayed(await send(creation(slot), key), first);
  const other = { ...creation(slot), body: { ...creationBody(slot), comment: 'x' } };
  expect((await send(other, key)).body.reason).toBe('idempotency_key_reused');
});

test('a stored response is replayed while the EHR hangs', async () => {
  isDown = false;
  const slot = await freeSlot(gateway);
  const key = newKey();
  const first = await send(creation(slot), key);
  expect(first.status).toBe(201);
  const { promise, resolve: open } = Promise.withResolvers<void>();
  gate = promise;
  try {
    expectReplayed(await send(creation(slot), key), first);
    const other = { ...creation(slot), body: { ...creationBody(slot), comment: 'x' } };
    expect((await send(other, key)).body.reason).toBe('idempotency_key_reused');
  } finally {
    open();
  }
});

test('a request that failed in an outage can be sent again with its key', async () => {
  isDown = false;
  const slot = await freeSlot(gateway);
  const key = newKey();
  isDown = true;
  expect((await send(creation(slot), key)).body.reason).toBe('ehr_unavailable');
  isDown = false;
  expect((await send(creation(slot), key)).status).toBe(201);
});
