import { randomBytes, randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../test/database/database.ts';
import { observeStatements } from '../../../test/database/statements.ts';
import { createDb, type Db } from '../db/kysely.ts';
import { LeaseLost } from '../db/write-lease.ts';
import { createKeyRing } from '../secrets/key-ring.ts';
import { claimKey, newWrite } from './claim.ts';
import { storeEnd } from './store-end.ts';
import type { Planned } from './store-plan.ts';
import { type Leased, sealOutcome, sealPlan } from './stored-write.ts';

const keys = createKeyRing([randomBytes(32)]);
let testDatabase: TestDatabase;
let db: Db;
beforeAll(async () => {
  testDatabase = await createTestDatabase('postgresql');
  db = createDb(testDatabase.database);
});
afterAll(() => testDatabase.dispose());

const services = { keys, liveTokens: new Set<string>() };

const request = (key: string, fingerprints: readonly [string, ...string[]] = ['body']) =>
  newWrite({ db, ...services }, { clientId: 'app', emr: 'ehr', careUnitId: 'ward', keyed: { key, fingerprints } });

function claim(unclaimed: Leased) {
  const planned: Planned = {
    kind: 'appointments',
    sealedPlan: sealPlan(keys, unclaimed, { changes: [] }),
    lifetimeSeconds: 600,
    patientHashes: [randomBytes(32), randomBytes(32)],
    takesFrom: null,
    takesUntil: null,
    leaseSeconds: 60,
  };
  return claimKey(db, services, unclaimed, planned);
}

async function claimed(key: string): Promise<Leased> {
  const unclaimed = await request(key);
  expect(await claim(unclaimed)).toMatchObject({ state: 'new' });
  return unclaimed;
}

function responseOf(leased: Leased): Buffer | null {
  return sealOutcome(keys, leased, { status: 201, headers: {}, body: { id: leased.id } });
}

const eventOf = (subject: string) => ({
  type: 'emr.recovered' as const,
  emr: 'ehr',
  careUnitId: null,
  subject,
  data: { status: 'available' as const },
});

test('each key of a shared statement has its own outcome', async () => {
  const [done, interrupted] = [await claimed('done'), await claimed('interrupted')];
  await claimed('in progress');
  await storeEnd(db, 'answered', { ...done, sealedResponse: responseOf(done) });
  await sql`UPDATE operations SET lease_expires_at = now() WHERE id = ${interrupted.id}`.execute(db);
  const requests = await Promise.all(
    ['new', 'done', 'interrupted', 'in progress', 'done', 'new'].map((key, index) =>
      request(key, index === 4 ? ['another body'] : ['body']),
    ),
  );
  let outcomes: PromiseSettledResult<object>[] = [];
  const statements = await observeStatements(testDatabase.database.pool, async () => {
    outcomes = await Promise.allSettled(requests.map(claim));
  });
  const [first, ...others] = outcomes;
  const last = others.pop();
  // Of two requests with one key, either may be first: the second statement does not wait long for the one before.
  const isNew = { value: { state: 'new', expiresAt: expect.any(Date) } };
  const isInProgress = { value: { state: 'answered', outcome: { reason: 'idempotency_in_progress' } } };
  expect([first, last]).toMatchObject(
    first?.status === 'fulfilled' && 'expiresAt' in first.value ? [isNew, isInProgress] : [isInProgress, isNew],
  );
  expect(others).toMatchObject([
    { value: { state: 'answered', outcome: { status: 201, body: { id: done.id } } } },
    { value: { state: 'interrupted', leased: { id: interrupted.id, plan: { changes: [] } } } },
    isInProgress,
    { value: { outcome: { reason: 'idempotency_key_reused' } } },
  ]);
  const inserts = statements.filter(({ text }) => text.includes('INSERT INTO operations'));
  // One for the four keys, and one for the keys that occur a second time.
  expect(inserts).toHaveLength(2);
});

test('a key that an earlier version stored with another fingerprint is taken over, and only by a request with it', async () => {
  const names = ['earlier 1', 'earlier 2', 'earlier 3'];
  for (const name of names) {
    const earlier = await request(name, ['as sent']);
    await claim(earlier);
    await sql`UPDATE operations SET lease_expires_at = now() WHERE id = ${earlier.id}`.execute(db);
  }
  const requests = await Promise.all([
    request('earlier 1', ['sorted', 'as sent']),
    request('earlier 2', ['sorted', 'otherwise']),
    request('earlier 3', ['as sent']),
  ]);
  expect(await Promise.all(requests.map(claim))).toMatchObject([
    { state: 'interrupted' },
    { state: 'answered', outcome: { reason: 'idempotency_key_reused' } },
    { state: 'interrupted' },
  ]);
});

test('a shared statement stores what a single one does', async () => {
  const shared = (await Promise.all(['a', 'b', 'c', 'd'].map((key) => claimed(`shared ${key}`)))).at(-1);
  const single = await claimed('single');
  const rowOf = async (leased: Leased) => {
    const { rows } = await sql<Record<string, unknown>>`
      SELECT client_id, emr, care_unit_id, kind, state, reported_unknown, consecutive_failures, attempt,
        sealed_response, suspended_at, had_effect, array_length(patient_hashes, 1) AS patients,
        octet_length(patient_hashes[2]) AS hash_length, octet_length(sealed_plan) AS plan_length,
        idempotency_key_hash = ${leased.keyHash} AS has_key, lease_token = ${leased.token} AS has_lease,
        extract(epoch FROM lease_expires_at - first_sent_at)::int AS lease_seconds,
        next_attempt_at = lease_expires_at AS is_due_with_lease,
        extract(epoch FROM expires_at - first_sent_at)::int AS lifetime_seconds
      FROM operations WHERE id = ${leased.id}`.execute(db);
    return rows[0];
  };
  expect(await rowOf(single)).toMatchObject({ patients: 2, hash_length: 32, has_key: true, lifetime_seconds: 600 });
  expect(shared && (await rowOf(shared))).toEqual(await rowOf(single));
});

test('a lost lease fails its own response only, and writes none of its events', async () => {
  const operations = await Promise.all(['1', '2', '3', '4', '5'].map((key) => claimed(`ending ${key}`)));
  const stored = await Promise.allSettled(
    operations.map((leased, index) =>
      storeEnd(db, 'answered', {
        ...leased,
        token: index === 3 ? randomUUID() : leased.token,
        sealedResponse: responseOf(leased),
        events: [eventOf(`${index} first`), eventOf(`${index} second`)],
      }),
    ),
  );
  expect(stored.map(({ status }) => status)).toEqual(
    [0, 1, 2, 3, 4].map((index) => (index === 3 ? 'rejected' : 'fulfilled')),
  );
  expect(stored[3]).toMatchObject({ reason: expect.any(LeaseLost) });
  const { rows } = await sql<{ subject: string }>`SELECT subject FROM events ORDER BY sequence`.execute(db);
  const subjects = rows.map(({ subject }) => subject);
  expect(subjects.toSorted()).toEqual(['0', '1', '2', '4'].flatMap((index) => [`${index} first`, `${index} second`]));
  for (const index of ['0', '1', '2', '4']) {
    expect(subjects.indexOf(`${index} first`)).toBeLessThan(subjects.indexOf(`${index} second`));
  }
  const again = await claim(await request('ending 3'));
  expect(again).toMatchObject({ state: 'answered', outcome: { body: { id: operations[2]?.id } } });
});
