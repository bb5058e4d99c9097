import { randomBytes, randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { expect, onTestFinished, test } from 'vitest';
import { createTestDatabase } from '../../../test/database.ts';
import { createDb } from '../db/kysely.ts';
import { createKeyRing } from '../secrets/key-ring.ts';
import { type ExecuteContext, execute } from './execute.ts';
import type { OperationKind } from './kind.ts';

const callSeconds = 10;
/** Longer than the margin of a lease. */
const waitSeconds = 5.5;

test('the lease outlasts the first call although the transaction that stored the plan waited for a lock', async () => {
  const testDatabase = await createTestDatabase('postgresql');
  onTestFinished(() => testDatabase.dispose());
  const db = createDb(testDatabase.database);
  const id = randomUUID();
  const ehr = {
    id: 'ehr',
    isOpen: true,
    patience: { callSeconds },
    capabilities: {},
    /** Seconds for which the lease lasts when the EHR is called. */
    async call() {
      const { rows } = await sql<{ rest: number }>`
        SELECT extract(epoch FROM lease_expires_at - clock_timestamp())::float8 AS rest FROM operations
        WHERE id = ${id}`.execute(db);
      return rows[0]?.rest;
    },
  };
  const context = {
    services: { db, keys: createKeyRing([randomBytes(32)]) },
    ehr,
    careUnit: {},
    operation: {
      id,
      clientId: 'app',
      emr: 'ehr',
      careUnitId: 'ward',
      keyHash: undefined,
      token: randomUUID(),
      attempt: 0,
    },
  } as unknown as ExecuteContext;
  const kind = {
    name: 'test',
    callsEhr: () => true,
    patientsOf: () => [],
    codesFor: () => [],
    perform: (work) => work.call('listAppointments', undefined as never),
    hasRecords: () => false,
    respond: (_run, _plan, rest) => ({ body: { rest } }),
  } as Partial<OperationKind<object, unknown>> as OperationKind<object, unknown>;
  const { body } = await execute(context, kind, {}, async (tx) => {
    await sql`SELECT pg_sleep(${waitSeconds})`.execute(tx);
    return undefined;
  });
  expect((body as { rest: number }).rest).toBeGreaterThan(callSeconds);
});
