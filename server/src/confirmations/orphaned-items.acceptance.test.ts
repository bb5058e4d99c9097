/** @module-tag any-database */
import { randomUUID } from 'node:crypto';
import { afterAll, expect, test } from 'vitest';
import { startGateway } from '../../../test/gateway/gateway.ts';
import { book, sodermalm } from '../../../test/requests/bookings.ts';
import { codeFor, rowsOf } from '../../../test/requests/codes.ts';
import { change, keysOf } from '../../../test/requests/idempotency-keys.ts';
import { freeOrphanedItems } from './orphaned-items.ts';

const gateway = await startGateway();
afterAll(() => gateway.close());
const { send } = keysOf(gateway);
const { db } = gateway.deps.services;

async function reserve(id: string, operationId: string): Promise<void> {
  await rowsOf(
    gateway,
    `UPDATE confirmation_items SET state = 'confirming', operation_id = '${operationId}' WHERE appointment_id = '${id}'`,
  );
}

async function storeOperation(id: string, plan: string): Promise<void> {
  await rowsOf(
    gateway,
    `INSERT INTO operations (id, client_id, emr, care_unit_id, kind, sealed_plan)
     VALUES ('${id}', 'everything', 'sandbox-se', 'sodermalm', 'appointments', ${plan})`,
  );
}

test.each([
  ['whose row is gone', async () => undefined],
  ['that has no plan', (id: string) => storeOperation(id, 'NULL')],
])('an id that is reserved by an operation %s can be confirmed again', async (_, prepare) => {
  const { id } = await book(gateway, { careUnit: sodermalm });
  const code = await codeFor(gateway, id);
  const operationId = randomUUID();
  await prepare(operationId);
  await reserve(id, operationId);
  await freeOrphanedItems(db);
  expect(await send(change(id, { confirmation: { code } }, sodermalm), undefined)).toMatchObject({
    status: 200,
    body: { status: 'booked' },
  });
});

test('an id stays reserved by an operation with a plan', async () => {
  const { id } = await book(gateway, { careUnit: sodermalm });
  const operationId = randomUUID();
  await storeOperation(operationId, `'plan'::bytea`);
  await reserve(id, operationId);
  await freeOrphanedItems(db);
  expect(await rowsOf(gateway, `SELECT state FROM confirmation_items WHERE appointment_id = '${id}'`)).toEqual([
    { state: 'confirming' },
  ]);
});
