import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import { Registry } from 'prom-client';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../test/database/database.ts';
import { createDb, type Db } from '../db/kysely.ts';
import { createGuard } from '../ehr/guard/guard.ts';
import { createEhrMetrics } from '../ehr/guard/metrics.ts';
import { createKeyRing } from '../secrets/key-ring.ts';
import { suspendedFor } from '../time/test-suspension.ts';
import { type WriteRequest, write } from './write.ts';
import type { WriteServices } from './write-kind.ts';
import { type Decide, plannedWrite, type WriteKind } from './write-kind.ts';

const callSeconds = 10;
/** Longer than the margin of a lease. */
const waitSeconds = 5.5;

let testDatabase: TestDatabase;
let db: Db;
beforeAll(async () => {
  testDatabase = await createTestDatabase('postgresql');
  db = createDb(testDatabase.database);
});
afterAll(() => testDatabase.dispose());

/** Seconds for which the lease lasts when the EHR is called. */
async function restAtCall({
  decide,
  beforeCall,
  guarded = (_id, call) => call(),
}: {
  decide?: Decide;
  beforeCall?: (id: string) => Promise<void>;
  guarded?: <Result>(id: string, call: () => Promise<Result>) => Promise<Result>;
}): Promise<number> {
  let id = '';
  const call = async () => {
    const { rows } = await sql<{ rest: number }>`
      SELECT extract(epoch FROM lease_expires_at - clock_timestamp())::float8 AS rest FROM operations
      WHERE id = ${id}`.execute(db);
    return rows[0]?.rest;
  };
  const kind = {
    name: 'test',
    callsEhr: () => true,
    patientsOf: () => [],
    async perform(work) {
      id = work.writeId;
      await beforeCall?.(id);
      return work.call('listAppointments', undefined as never);
    },
    hasRecords: () => false,
    respond: (_work, _plan, rest) => ({ body: { rest } }),
  } as Partial<WriteKind<object, unknown>> as WriteKind<object, unknown>;
  const services = { db, keys: createKeyRing([randomBytes(32)]), liveTokens: new Set() };
  const request = {
    clientId: 'app',
    requestId: 'request',
    ehr: { id: 'ehr', isOpen: true, times: { callSeconds }, capabilities: {}, call: () => guarded(id, call) },
    careUnit: { id: 'ward' },
    keyed: undefined,
    plan: async () => plannedWrite(kind, {}, decide),
    begin: async () => undefined,
  };
  const { body } = await write(services as unknown as WriteServices, request as unknown as WriteRequest);
  return (body as { rest: number }).rest;
}

test('the lease outlasts the first call although the transaction that stored the plan waited for a lock', async () => {
  const decide: Decide = async (tx) => {
    await sql`SELECT pg_sleep(${waitSeconds})`.execute(tx);
    return undefined;
  };
  expect(await restAtCall({ decide })).toBeGreaterThan(callSeconds);
});

test('the lease outlasts a call after the machine was suspended', async () => {
  const beforeCall = async (id: string) => {
    onTestFinished((await suspendedFor(60)).restore);
    await sql`UPDATE operations SET lease_expires_at = lease_expires_at - interval '60 seconds' WHERE id = ${id}`.execute(
      db,
    );
  };
  expect(await restAtCall({ beforeCall })).toBeGreaterThan(callSeconds);
});

test('a call is not made if its operation was taken over while it waited in the queue and the machine was suspended', async () => {
  const { promise: others, resolve: end } = Promise.withResolvers<void>();
  const guard = createGuard(
    {
      timeoutMs: 60_000,
      concurrency: 1,
      queue: 2,
      queueTimeoutMs: 60_000,
      breaker: { failures: 3, resetSeconds: 10 },
      streams: { idleMs: 5000, totalMs: 5000 },
    },
    {
      emr: 'ehr',
      countsEveryCall: () => true,
      metrics: createEhrMetrics(new Registry()),
      paused: () => undefined,
      onBreakerChange: () => undefined,
    },
  );
  const other = guard.run('listAppointments', () => others);
  let isMade = false;
  const guarded = async <Result>(id: string, call: () => Promise<Result>): Promise<Result> => {
    const waiting = guard.run('listAppointments', () => {
      isMade = true;
      return call();
    });
    onTestFinished((await suspendedFor(60)).restore);
    await sql`UPDATE operations SET lease_token = gen_random_uuid() WHERE id = ${id}`.execute(db);
    end();
    return waiting;
  };
  await expect(restAtCall({ guarded })).rejects.toThrow();
  await other;
  expect(isMade).toBe(false);
});
