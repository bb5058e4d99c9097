/** @module-tag any-database */
import { afterAll, expect, test } from 'vitest';
import { startGateway } from '../../../test/gateway/gateway.ts';
import { finalResponse, withQuickRecovery } from '../../../test/gateway/recovery.ts';
import { freeSlot } from '../../../test/requests/bookings.ts';
import { creation, keysOf, newKey } from '../../../test/requests/idempotency-keys.ts';

const gateway = await startGateway({ configure: (demo) => withQuickRecovery(demo) });
afterAll(() => gateway.close());
const { send, at } = keysOf(gateway);

/** The connection of the next write fails after the write is committed, before the response of the server arrives. */
function loseNextResponse(): { readonly isLost: () => boolean } {
  const { pool } = gateway.database;
  const { connect } = pool;
  let isLost = false;
  pool.connect = async () => {
    const client = await Reflect.apply(connect, pool, []);
    const { query } = client;
    const failingQuery = async (...input: readonly unknown[]) => {
      const result: unknown = await Reflect.apply(query, client, input);
      if (isLost || !JSON.stringify(input).includes('sandbox.book_together')) return result;
      isLost = true;
      pool.connect = connect;
      throw new Error('Connection terminated unexpectedly');
    };
    client.query = failingQuery as typeof query;
    return client;
  };
  return { isLost: () => isLost };
}

test('a booking whose connection fails after the commit is neither lost nor rejected', async () => {
  const slot = await freeSlot(gateway);
  const key = newKey();
  const { isLost } = loseNextResponse();
  const first = await send(creation(slot), key);
  expect(isLost()).toBe(true);
  expect({ status: first.status, reason: first.body.reason }).toEqual({ status: 504, reason: 'outcome_unknown' });
  const again = await finalResponse(() => send(creation(slot), key));
  expect(again.status, again.text).toBe(201);
  expect(await at(slot)).toEqual([{ id: again.body.id, state: 'booked' }]);
});
