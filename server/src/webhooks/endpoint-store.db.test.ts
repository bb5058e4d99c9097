import { randomBytes } from 'node:crypto';
import { afterAll, expect, test } from 'vitest';
import { createTestDatabase } from '../../../test/database/database.ts';
import { createDb } from '../db/kysely.ts';
import { createKeyRing } from '../secrets/key-ring.ts';
import { rotateEndpointSecret } from './endpoint-actions.ts';
import { findEndpoint, insertEndpoint } from './endpoint-store.ts';
import { resealEndpoints } from './reseal-endpoints.ts';
import { makeSecret } from './signing.ts';

const { database, dispose } = await createTestDatabase('postgresql');
afterAll(() => dispose());
const db = createDb(database);

const [older, newer] = [randomBytes(32), randomBytes(32)];
const keys = createKeyRing([older]);

const create = (clientId: string) =>
  db.transaction().execute(async (tx) => {
    const values = { clientId, url: 'https://hooks.clinic.example', secret: makeSecret(), eventTypes: null };
    const endpoint = await insertEndpoint(tx, keys, values, 1);
    if (!endpoint) throw new Error('There are too many endpoints');
    return endpoint;
  });
const rotate = (id: string) => db.transaction().execute((tx) => rotateEndpointSecret(tx, keys, id, 3600));

test('all previous secrets are encrypted with a new secret key', async () => {
  const { id, secret } = await create('resealed');
  const [second, third] = [await rotate(id), await rotate(id)];
  const before = await findEndpoint(db, keys, 'resealed', id);
  expect(before).toMatchObject({ secret: third, previousSecrets: [{ secret: second }, { secret }] });
  expect(await resealEndpoints(db, createKeyRing([newer, older]), 10)).toEqual([]);
  expect(await findEndpoint(db, createKeyRing([newer]), 'resealed', id)).toEqual(before);
});

test('beyond five previous secrets, a rotation ends the one that it replaces', async () => {
  const { id, secret } = await create('often');
  const secrets = [secret];
  while (secrets.length < 8) secrets.push(await rotate(id));
  const [newest, ...kept] = [secrets.at(-1), ...secrets.slice(0, 5).reverse()];
  expect(await findEndpoint(db, keys, 'often', id)).toMatchObject({
    secret: newest,
    previousSecrets: kept.map((it) => ({ secret: it })),
  });
});
