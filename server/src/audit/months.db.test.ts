import { randomBytes, randomUUID } from 'node:crypto';
import { cp, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { sql } from 'kysely';
import { afterAll, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { createTestDatabase } from '../../../test/database/database.ts';
import { observeStatements } from '../../../test/database/statements.ts';
import type { AuditedAccess } from '../context/work-context.ts';
import { createDb } from '../db/kysely.ts';
import { migrate } from '../db/migrate.ts';
import { migrationSets } from '../db/migration-sets.ts';
import { createKeyRing } from '../secrets/key-ring.ts';
import { insertChain } from './anchors.ts';
import type { AuditKey } from './audit-keys.ts';
import { prepareAuditKey, readAuditKeys } from './audit-keys.ts';
import { beginning, hashOf } from './chain.ts';
import { columnsOf } from './drafts.ts';
import { readExportState } from './export/export-state.ts';
import { readEntries } from './export/read-entries.ts';
import { linkedAccesses, type StoredEntry } from './linked-accesses.ts';
import { createMonths, dropMonths } from './months.ts';
import { searchEntries } from './search.ts';
import { auditEntries, newTrail, tamper } from './test-audit.ts';
import type { Trail } from './trail.ts';
import { verifyChains } from './verify.ts';

/*
 * Months are those of the database's clock. A retention of ten days keeps an entry for at most 41: its month has to end first.
 * So these tests use entries of 0, 9, 45 and 100 days.
 */

const { database, url, dispose } = await createTestDatabase();
afterAll(() => dispose());
const db = createDb(database);
const ring = createKeyRing([randomBytes(32)]);
let key: AuditKey;
beforeEach(async () => {
  await tamper(db, (tx) =>
    sql`TRUNCATE audit_entries, audit_drafts, audit_chains, audit_keys, operator_activity`.execute(tx),
  );
  key = await prepareAuditKey(db, ring);
});

const dayMilliseconds = 86_400_000;
const daysAgo = (days: number) => new Date(Date.now() - days * dayMilliseconds);

const access: AuditedAccess = {
  actor: 'client',
  clientId: 'app',
  operation: 'get_patient',
  emr: 'north',
  careUnitId: 'ward',
  patients: ['emr_id:p-1'],
  records: [],
  outcome: 'success',
  requestId: 'r-1',
  writeId: undefined,
};

/** Stores a chain with entries of these times, as gateways link them. */
async function chainOf(times: readonly Date[], inDb = db, isBeforeExports = false): Promise<string> {
  const chain_id = randomUUID();
  await insertChain(inDb, key, { id: chain_id, subject: 'accesses' });
  let previous = beginning.hash;
  for (const [n, at] of times.entries()) {
    const entry = { ...columnsOf(key, at, access), id: n, chain_id, position: n + 1 };
    previous = hashOf(key, previous, linkedAccesses, entry, entry);
    await inDb
      .insertInto('audit_entries')
      .values({ ...entry, hash: previous, ...(!isBeforeExports && { export_position: n + 1 }) } as StoredEntry)
      .execute();
  }
  return chain_id;
}

const chainAged = (...ages: readonly number[]) => chainOf(ages.map(daysAgo));

async function verdicts(inDb = db) {
  const found: unknown[] = [];
  for await (const { fault, entries } of verifyChains(inDb, await readAuditKeys(db, ring)))
    found.push([fault, entries]);
  return found;
}

/** Records and links an access while the clock of the gateway's machine shows this time. */
async function recordAt(trail: Trail, now: Date): Promise<void> {
  vi.useFakeTimers({ toFake: ['Date'], now });
  try {
    await trail.record(access);
  } finally {
    vi.useRealTimers();
  }
  await trail.linkAccesses();
}

/** Creates the partition of the month in which something was this many days ago. */
const createMonthOf = (days: number) =>
  sql`SELECT create_audit_month(it.month)
    FROM (SELECT date_trunc('month', ${daysAgo(days)}::timestamptz AT TIME ZONE 'UTC')::date AS month) AS it
    WHERE it.month NOT IN (SELECT month FROM audit_months)`.execute(db);

async function months(inDb = db): Promise<string[]> {
  const { rows } = await sql<{ month: string }>`
    SELECT to_char(month, 'YYYY-MM') AS month FROM audit_months ORDER BY month`.execute(inDb);
  return rows.map(({ month }) => month);
}

/** In which partition each entry is, by its time. */
async function places(inDb = db): Promise<string[]> {
  const { rows } = await sql<{ place: string }>`
    SELECT tableoid::regclass::text AS place FROM audit_entries ORDER BY at, position`.execute(inDb);
  return rows.map(({ place }) => place);
}

const monthOf = (at: Date) => at.toISOString().slice(0, 7);
const partitionOf = (at: Date) => `audit_entries_${monthOf(at).replace('-', '_')}`;

/** Months after the present one of the database. */
async function monthAhead(count: number): Promise<Date> {
  const { rows } = await sql<{ at: Date }>`
    SELECT (date_trunc('month', now(), 'UTC') + ${count} * interval '1 month' + interval '1 day') AS at`.execute(db);
  return rows[0]?.at ?? new Date(Number.NaN);
}

describe('entries', () => {
  test('of this month and the next two have a partition of their own', async () => {
    const times = [await monthAhead(0), await monthAhead(1), await monthAhead(2)];
    await chainOf(times);
    expect(await places()).toEqual(times.map(partitionOf));
  });

  test('of a wrong clock are stored, found and verified', async () => {
    const trail = newTrail(db, key);
    const now = new Date();
    await recordAt(trail, new Date(0));
    await recordAt(trail, new Date('2200-01-01T00:00:00Z'));
    await recordAt(trail, now);
    expect(await places()).toEqual(['audit_entries_default', partitionOf(now), 'audit_entries_default']);
    expect(await auditEntries(db)).toHaveLength(3);
    expect(await verdicts()).toEqual([[null, 3]]);
  });

  test('that were stored before their month was created move into it', async () => {
    const at = await monthAhead(2);
    await sql`DROP TABLE ${sql.table(partitionOf(at))}`.execute(db);
    await chainOf([at]);
    expect(await places()).toEqual(['audit_entries_default']);
    await Promise.all([createMonths(db), createMonths(db)]);
    await createMonths(db);
    expect(await places()).toEqual([partitionOf(at)]);
    expect(await verdicts()).toEqual([[null, 1]]);
  });

  test('can be neither changed nor removed, by the name of a partition either', async () => {
    const at = daysAgo(0);
    await chainOf([at, new Date(0)]);
    for (const name of ['audit_entries', partitionOf(at), 'audit_entries_default']) {
      const table = sql.table(name);
      for (const change of [
        sql`UPDATE ${table} SET outcome = 'x'`,
        sql`DELETE FROM ${table}`,
        sql`TRUNCATE ${table}`,
      ]) {
        await expect(change.execute(db)).rejects.toThrow('append-only');
      }
    }
  });

  test('are linked behind an entry of another month', async () => {
    const trail = newTrail(db, key);
    for (const ahead of [0, 1, 2]) await recordAt(trail, await monthAhead(ahead));
    expect(new Set(await places()).size).toBe(3);
    expect(await verdicts()).toEqual([[null, 3]]);
  });
});

test('a search looks into the months of its time only', async () => {
  const [from, to] = [await monthAhead(1), await monthAhead(2)];
  const statements = await observeStatements(database.pool, () =>
    searchEntries(db, [key], { emr: 'north', patients: ['emr_id:p-1'], from, to }, { limit: 10 }),
  );
  const client = await database.pool.connect();
  try {
    const { rows } = await client.query(`EXPLAIN ${statements[0]?.text}`, statements[0]?.values);
    const scanned = JSON.stringify(rows).match(/on audit_entries\w*/g);
    expect(new Set(scanned)).toEqual(new Set([`on ${partitionOf(from)}`, `on ${partitionOf(to)}`]));
  } finally {
    client.release();
  }
});

describe.each([
  ['in a partition of their own', createMonthOf],
  ['without one', () => undefined],
])('after their retention, entries %s', (_, prepare) => {
  beforeEach(async () => {
    await prepare(45);
    await prepare(100);
  });

  test('are dropped with their month, and the rest still verifies', async () => {
    await chainAged(100, 100, 45, 45, 9, 0);
    await dropMonths(db, ring, 10);
    expect(await verdicts()).toEqual([[null, 2]]);
    expect((await auditEntries(db)).map(({ position }) => position)).toEqual([5, 6]);
    expect(await months()).not.toContain(monthOf(daysAgo(45)));
    await dropMonths(db, ring, 10);
    expect(await verdicts()).toEqual([[null, 2]]);
  });

  test('are kept as long as the database says', async () => {
    await chainAged(100, 0);
    await sql`UPDATE audit_retention SET least_days = 101`.execute(db);
    onTestFinished(async () => {
      await sql`UPDATE audit_retention SET least_days = 1`.execute(db);
    });
    await dropMonths(db, ring, 10);
    expect(await verdicts()).toEqual([[null, 2]]);
  });

  test('stay behind a younger one, as after a wrong clock, until both are dropped, and stop no other chain', async () => {
    const stuck = await chainAged(100, 0, 100, 100, 0);
    await chainAged(100, 100, 0);
    await dropMonths(db, ring, 10);
    expect(await verdicts()).toEqual([
      [null, 4],
      [null, 1],
    ]);
    const kept = sql`SELECT DISTINCT tableoid::regclass::text AS place FROM audit_entries
      WHERE chain_id = ${stuck} AND at < now() - interval '50 days'`;
    expect((await kept.execute(db)).rows).toEqual([{ place: 'audit_entries_default' }]);
    await dropMonths(db, ring, 10);
    expect(await verdicts()).toEqual([
      [null, 4],
      [null, 1],
    ]);
  });

  test('that a clock before all others wrote go first', async () => {
    await chainOf([new Date(0), new Date(1), daysAgo(100), daysAgo(0), new Date(2)]);
    await dropMonths(db, ring, 10);
    expect(await verdicts()).toEqual([[null, 2]]);
  });

  test('take no checkpoint for a removal that nobody has signed', async () => {
    await chainAged(100, 100, 0, 0);
    await dropMonths(db, ring, 10);
    await tamper(db, async (tx) => {
      await sql`UPDATE audit_chains SET checkpoint_position = 3, checkpoint_hash =
        (SELECT hash FROM audit_entries WHERE position = 3)`.execute(tx);
      await sql`DELETE FROM audit_entries WHERE position <= 3`.execute(tx);
    });
    expect(await verdicts()).toEqual([['checkpoint_changed', 0]]);
  });

  test('under an older key get a checkpoint of that key, and under a lost one none', async () => {
    const newer = createKeyRing([randomBytes(32)]);
    await chainAged(100, 0);
    await dropMonths(db, newer, 10);
    expect(await verdicts()).toEqual([['missing', 0]]);
    await tamper(db, (tx) => sql`TRUNCATE audit_entries, audit_chains`.execute(tx));
    await prepare(100);
    await chainAged(100, 0);
    await prepareAuditKey(db, newer);
    await dropMonths(db, ring, 10);
    expect(await verdicts()).toEqual([[null, 1]]);
  });

  test('leave a chain that is continued without an entry left', async () => {
    const trail = newTrail(db, key);
    await trail.record(access);
    await trail.linkAccesses();
    await tamper(db, (tx) => sql`UPDATE audit_entries SET at = ${daysAgo(100)}`.execute(tx));
    await dropMonths(db, ring, 10);
    expect(await auditEntries(db)).toEqual([]);
    await trail.record(access);
    await trail.linkAccesses();
    expect(await verdicts()).toEqual([[null, 1]]);
  });
});

// PGlite has one connection: nobody else reads meanwhile.
describe.skipIf(url === undefined)('while somebody reads the trail', () => {
  test('no month is dropped or created, and nobody waits for it', async () => {
    await createMonthOf(100);
    await chainAged(100, 0);
    await db.transaction().execute(async (tx) => {
      await sql`LOCK TABLE audit_entries IN ACCESS SHARE MODE`.execute(tx);
      await dropMonths(db, ring, 10);
      expect(await verdicts()).toEqual([[null, 2]]);
    });
    await dropMonths(db, ring, 10);
    expect(await verdicts()).toEqual([[null, 1]]);
  });

  test('a verification sees a chain and its checkpoint as of one time', async () => {
    await createMonthOf(100);
    await chainAged(100, 100, 0);
    let statements = 0;
    // After each statement of the verification, except the one that lists the chains.
    const interrupted = db.withPlugin({
      transformQuery: ({ node }) => node,
      async transformResult({ result }) {
        if (statements++ > 0) await dropMonths(db, ring, 10);
        return result;
      },
    });
    expect(await verdicts(interrupted)).toEqual([[null, 3]]);
    expect(statements).toBeGreaterThan(2);
    await dropMonths(db, ring, 10);
    expect(await verdicts()).toEqual([[null, 1]]);
  });
});

test('the migration moves what there is into months', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'crossward-migrations-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const [gateway] = migrationSets([]);
  if (!gateway) throw new Error('no migrations');
  await cp(gateway.folder, folder, { recursive: true });
  for (const name of await readdir(folder)) if (name >= '000021') await rm(join(folder, name));
  const before = await createTestDatabase(undefined, 'empty');
  onTestFinished(() => before.dispose());
  await migrate(before.database, [{ ...gateway, folder: pathToFileURL(`${folder}/`) }]);
  const old = createDb(before.database);
  const times = [new Date(0), daysAgo(100), daysAgo(0), new Date('2200-01-01T00:00:00Z')];
  await chainOf(times, old, true);
  await sql`UPDATE audit_chains SET linked_position = 4`.execute(old);
  await migrate(before.database, [gateway]);
  expect(await places(old)).toEqual([
    'audit_entries_default',
    ...times.slice(1, 3).map(partitionOf),
    'audit_entries_default',
  ]);
  expect(await verdicts(old)).toEqual([[null, 4]]);
  const chains = await sql<{ linked_at: Date }>`SELECT linked_at FROM audit_chains`.execute(old);
  expect(chains.rows).toEqual([{ linked_at: times.at(-1) }]);
  // A later one gives them their places in exports.
  expect((await readEntries(old, 0, 9)).map(({ at, export_position }) => [at, export_position])).toEqual(
    times.map((at, index) => [at, index + 1]),
  );
  expect(await readExportState(old)).toMatchObject({ exported: 0, last: 4 });
  await chainOf(times, old);
});
