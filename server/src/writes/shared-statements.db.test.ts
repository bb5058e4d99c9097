import { randomBytes, randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { sql } from 'kysely';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { connectTimeout, createTestDatabase, type TestDatabase } from '../../../test/database/database.ts';
import { type PostgresProxy, startPostgresProxy } from '../../../test/postgres-proxy/postgres-proxy.ts';
import { isWrite } from '../../../test/postgres-proxy/ways.ts';
import { createAuditKey } from '../audit/audit-keys.ts';
import { newDraft } from '../audit/drafts.ts';
import { type Database, openDatabase } from '../db/database.ts';
import { isLockTimeout, isRejectedRow, mayHaveBeenSent } from '../db/errors.ts';
import { createDb, type Db } from '../db/kysely.ts';
import { LeaseLost } from '../db/write-lease.ts';
import { storeEnd } from './store-end.ts';
import { insertWrite } from './store-plan.ts';
import type { Leased } from './stored-write.ts';

/*
 * A model of the statements that requests share, on a real PostgreSQL: plans and ends of writes are stored at the same time,
 * some of them cannot be, and the connection of a statement is cut before or after its commit. Nobody is told that something was
 * stored which was not, and nobody fails because of another. An end has its event and its audit entry, or nothing.
 */

let testDatabase: TestDatabase;
let proxy: PostgresProxy;
let database: Database;
let direct: Db;
let db: Db;
beforeAll(async () => {
  testDatabase = await createTestDatabase('postgresql');
  proxy = await startPostgresProxy(testDatabase.url ?? '');
  const databaseUrl = `${proxy.url}?lock_timeout=50`;
  database = await openDatabase({ databaseUrl, dataDir: '', connectTimeout });
  direct = createDb(testDatabase.database);
  db = createDb(database);
});
afterAll(async () => {
  await proxy.heal();
  await database.close();
  await proxy.close();
  await testDatabase.dispose();
});

const fates = ['stored', 'rejected by the database', 'lease lost', 'locked by another'] as const;
type Fate = (typeof fates)[number];

interface Member {
  readonly step: 'plan' | 'end';
  readonly fate: Fate;
  readonly lease: Leased;
}

const auditKey = createAuditKey(randomUUID(), randomBytes(32));
const writerId = randomUUID();

function leased(): Leased {
  const place = { clientId: 'app', emr: 'ehr', careUnitId: 'ward' };
  return { ...place, id: randomUUID(), token: randomUUID(), keyHash: randomBytes(32), attempt: 0 };
}

const planned = {
  kind: 'test',
  sealedPlan: randomBytes(40),
  lifetimeSeconds: null,
  patientHashes: [],
  takesFrom: null,
  takesUntil: null,
  leaseSeconds: 60,
};
const claims = { requestHashes: [randomBytes(32)], isCondition: false };
/** PostgreSQL accepts it nowhere. */
const unacceptable = '\u0000';

async function store(to: Db, { step, fate, lease }: Member): Promise<void> {
  const text = fate === 'rejected by the database' ? unacceptable : lease.id;
  if (step === 'plan') {
    const row = await insertWrite(to, { ...lease, ...planned, kind: text, claims });
    if (row?.id !== lease.id) throw new LeaseLost();
    return;
  }
  const token = fate === 'lease lost' ? randomUUID() : lease.token;
  await storeEnd(to, 'answered', {
    ...lease,
    token,
    sealedResponse: randomBytes(60),
    events: [{ type: 'emr.recovered', emr: 'ehr', careUnitId: null, subject: text, data: { status: 'available' } }],
    drafts: [
      newDraft(auditKey, writerId, {
        actor: 'client',
        clientId: 'app',
        operation: 'test',
        emr: 'ehr',
        careUnitId: 'ward',
        patients: [],
        records: [],
        outcome: 'success',
        requestId: lease.id,
        writeId: lease.id,
      }),
    ],
  });
}

/** Whether it is in the database, with all that belongs to it. Throws if it is there in part. */
async function isStored({ step, lease: { id } }: Member): Promise<boolean> {
  const { rows } = await sql<{ plans: number; ends: number; events: number; drafts: number }>`
    SELECT count(*)::int AS plans, count(sealed_response)::int AS ends,
      (SELECT count(*)::int FROM events WHERE subject = ${id}) AS events,
      (SELECT count(*)::int FROM audit_drafts WHERE request_id = ${id}) AS drafts
    FROM operations WHERE id = ${id}`.execute(direct);
  const [{ plans, ends, events, drafts } = { plans: 0, ends: 0, events: 0, drafts: 0 }] = rows;
  expect([events, drafts]).toEqual([ends, ends]);
  return step === 'plan' ? plans === 1 : ends === 1;
}

/** What another key or process does to the row meanwhile. Returns how to end it. */
async function lockRows(ids: readonly string[]): Promise<() => Promise<void>> {
  const client = new pg.Client({ connectionString: testDatabase.url ?? '' });
  await client.connect();
  await client.query('BEGIN');
  await client.query('SELECT FROM operations WHERE id = ANY($1::uuid[]) FOR UPDATE', [ids]);
  return async () => {
    await client.query('ROLLBACK');
    await client.end();
  };
}

const members = fc.array(
  fc.record({
    step: fc.constantFrom('plan' as const, 'end' as const),
    fate: fc.oneof({ weight: 4, arbitrary: fc.constant<Fate>('stored') }, fc.constantFrom(...fates)),
  }),
  { minLength: 1, maxLength: 14 },
);
const cut = fc.option(fc.record({ kind: fc.constantFrom('before' as const, 'after' as const), place: fc.nat(3) }));

test('every member of a shared statement is stored as it was told, or its outcome is unknown', async () => {
  const seen = new Set<string>();
  await fc.assert(
    fc.asyncProperty(members, cut, async (wanted, cutting) => {
      // A plan has no lease to lose and no row that could be locked.
      const all: Member[] = wanted.map(({ step, fate }) => {
        const isOfEnd = fate === 'lease lost' || fate === 'locked by another';
        return { step: isOfEnd ? 'end' : step, fate, lease: leased() };
      });
      const ends = all.filter(({ step }) => step === 'end');
      for (const { lease } of ends) await insertWrite(direct, { ...lease, ...planned });
      const locked = ends.filter(({ fate }) => fate === 'locked by another').map(({ lease }) => lease.id);
      const unlock = await lockRows(locked);
      const [before, failure] = [proxy.cuts.length, cutting && planCut(cutting)];
      const told = await Promise.allSettled(all.map((member) => store(db, member)));
      const isCut = proxy.cuts.length > before;
      if (isCut) await failure?.settled;
      await unlock();
      await proxy.heal();

      const unknown = new Set<boolean>();
      for (const [place, member] of all.entries()) {
        const { status, reason } = told[place] as PromiseRejectedResult;
        const inDatabase = await isStored(member);
        if (mayHaveBeenSent(reason)) {
          expect(isCut).toBe(true);
          if (member.fate !== 'lease lost') unknown.add(inDatabase);
          seen.add(`unknown, ${inDatabase ? 'stored' : 'not stored'}`);
          continue;
        }
        seen.add(member.fate);
        expect({ ...member, status, inDatabase }).toEqual({
          ...member,
          status: (status as string) === 'fulfilled' ? 'fulfilled' : 'rejected',
          inDatabase: (status as string) === 'fulfilled',
        });
        expect((status as string) === 'fulfilled').toBe(member.fate === 'stored');
        if (member.fate === 'rejected by the database') expect(isRejectedRow(reason)).toBe(true);
        if (member.fate === 'locked by another') expect(isLockTimeout(reason)).toBe(true);
        if (member.fate === 'lease lost') expect(reason).toBeInstanceOf(LeaseLost);
      }
      // One statement was cut: all of it or nothing was executed, and nothing of it is repeated.
      expect(unknown.size).toBeLessThanOrEqual(1);
      if (cutting?.kind === 'before') expect(unknown).not.toContain(true);
    }),
    { numRuns: 40 },
  );
  expect([...seen].sort()).toEqual([...fates, 'unknown, not stored', 'unknown, stored'].sort());
});

function planCut({ kind, place }: { readonly kind: 'before' | 'after'; readonly place: number }) {
  let left = place;
  return proxy.cutNext({ kind }, (unit) => isWrite(unit) && left-- === 0);
}
