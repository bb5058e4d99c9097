import { sql } from 'kysely';
import { afterAll, expect, test } from 'vitest';
import { startGateway } from '../../../test/gateway/gateway.ts';
import { oslo } from '../../../test/requests/bookings.ts';
import { createDb } from '../db/kysely.ts';
import { isIncomplete, lostAuditKeys, watchLostKeys } from './lost-keys.ts';

const gateway = await startGateway();
afterAll(() => gateway.close());
const { keys, audit } = gateway.deps.services;
const db = createDb(gateway.database);
const accesses = (query = '') =>
  gateway.request<{ accesses?: unknown[] }>('GET', `${oslo}/patients/p-1/accesses${query}`);
const search = { patients: ['emr_id:p-1'] };

test('an answer that may lack accesses under a key that cannot be opened says so', async () => {
  await gateway.request('GET', `${oslo}/patients/p-1`);
  await audit.linkAccesses();
  expect((await accesses()).status).toBe(200);
  const count = watchLostKeys(keys, gateway.deps.log);
  expect(await count(db)).toBe(0);

  const { sealed_key } = await db.selectFrom('audit_keys').select('sealed_key').executeTakeFirstOrThrow();
  await sql`UPDATE audit_keys SET sealed_key = overlay(sealed_key PLACING '\\x0000'::bytea FROM 20)`.execute(db);
  const refused = await accesses();
  expect(refused).toMatchObject({ status: 503, body: { reason: 'audit_trail_incomplete', retryable: false } });
  expect(await isIncomplete(db, keys, search)).toBe(true);
  // A search without a patient finds every entry, and before the first entry nothing is lacking.
  expect(await isIncomplete(db, keys, {})).toBe(false);
  expect((await accesses('?end=2020-01-01T00:00:00')).status).toBe(200);

  const said = () => gateway.logLines.filter((it) => it.includes('keys of the audit trail cannot be opened'));
  expect([await count(db), await count(db)]).toEqual([1, 1]);
  expect(said()).toHaveLength(1);
  expect(said()[0]).toContain(audit.key.id);
  const gauge = async () => /crossward_audit_keys_lost (\d)/.exec(await gateway.deps.metrics.metrics())?.[1];
  expect(await gauge()).toBeDefined();

  // Its secret key was retired: the loss is known, and the answer is as incomplete.
  const id = sealed_key.subarray(0, 4).toString('hex');
  await sql`UPDATE secret_keys SET retired_at = now() WHERE id = ${id}`.execute(db);
  expect(await lostAuditKeys(db, keys)).toEqual([{ id: audit.key.id, isRetired: true }]);
  expect(await count(db)).toBe(0);
  expect((await accesses()).status).toBe(503);
  await sql`UPDATE secret_keys SET retired_at = NULL WHERE id = ${id}`.execute(db);

  await db.updateTable('audit_keys').set({ sealed_key }).execute();
  expect((await accesses()).status).toBe(200);
});
