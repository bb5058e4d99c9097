import { sql } from 'kysely';
import { pino } from 'pino';
import { afterAll, expect, test } from 'vitest';
import { startGateway } from '../../../test/gateway/gateway.ts';
import { oslo } from '../../../test/requests/bookings.ts';
import { eventually } from '../../../test/requests/codes.ts';
import { checkSecretKey } from '../cli/doctor/check-secret-key.ts';
import { readEnvironment } from '../config/environment/environment.ts';
import { createDb } from '../db/kysely.ts';
import { isIncomplete, lostAuditKeys, watchLostKeys } from './lost-keys.ts';

const gateway = await startGateway({ intervals: { gauges: 200 } });
afterAll(() => gateway.close());
const { keys, audit } = gateway.deps.services;
const db = createDb(gateway.database);
const accesses = (query = '') =>
  gateway.request<{ accesses?: unknown[] }>('GET', `${oslo}/patients/p-1/accesses${query}`);
const gauge = async () => /^crossward_audit_keys_lost (\d+)$/m.exec(await gateway.deps.metrics.metrics())?.[1];
/** What `doctor` finds about the keys of the trail. */
async function found() {
  const [key] = gateway.ground.secretKeys;
  const variables = { CROSSWARD_CONFIG: 'of-the-test.yaml', CROSSWARD_SECRET_KEY: key.toString('base64') };
  const findings = await checkSecretKey(readEnvironment(variables), { database: gateway.database, isMigrated: true });
  return findings.filter(({ subject }) => subject === 'audit key');
}
const search = { patients: ['emr_id:p-1'] };

test('an answer that may lack accesses under a key that cannot be opened says so', async () => {
  await gateway.request('GET', `${oslo}/patients/p-1`);
  await audit.linkAccesses();
  expect((await accesses()).status).toBe(200);
  const lines: string[] = [];
  const count = watchLostKeys(keys, pino({}, { write: (line: string) => void lines.push(line) }));
  expect(await count(db)).toBe(0);

  const { sealed_key } = await db.selectFrom('audit_keys').select('sealed_key').executeTakeFirstOrThrow();
  await sql`UPDATE audit_keys SET sealed_key = overlay(sealed_key PLACING '\\x0000'::bytea FROM 20)`.execute(db);
  const refused = await accesses();
  expect(refused).toMatchObject({ status: 503, body: { reason: 'audit_trail_incomplete', retryable: false } });
  expect(await isIncomplete(db, keys, search)).toBe(true);
  // A search without a patient finds every entry, and before the first entry nothing is lacking.
  expect(await isIncomplete(db, keys, {})).toBe(false);
  expect((await accesses('?end=2020-01-01T00:00:00')).status).toBe(200);

  const said = (log: readonly string[]) =>
    log.filter((it) => it.includes('"keys of the audit trail cannot be opened"') && it.includes(audit.key.id));
  expect([await count(db), await count(db)]).toEqual([1, 1]);
  expect(said(lines)).toHaveLength(1);
  await eventually(() => expect(said(gateway.logLines)).toHaveLength(1));
  await eventually(async () => expect(await gauge()).toBe('1'));
  expect(await found()).toEqual([
    expect.objectContaining({ status: 'problem', text: expect.stringContaining(`${audit.key.id} cannot be opened`) }),
  ]);

  // Its secret key was retired: the loss is known, and the answer is as incomplete.
  const id = sealed_key.subarray(0, 4).toString('hex');
  await sql`UPDATE secret_keys SET retired_at = now() WHERE id = ${id}`.execute(db);
  expect(await lostAuditKeys(db, keys)).toEqual([{ id: audit.key.id, isRetired: true }]);
  expect(await count(db)).toBe(0);
  expect(await found()).toEqual([expect.objectContaining({ status: 'warning' })]);
  expect((await accesses()).status).toBe(503);
  await sql`UPDATE secret_keys SET retired_at = NULL WHERE id = ${id}`.execute(db);

  await db.updateTable('audit_keys').set({ sealed_key }).execute();
  expect((await accesses()).status).toBe(200);
  expect(await found()).toEqual([]);
  await eventually(async () => expect(await gauge()).toBe('0'));
});
