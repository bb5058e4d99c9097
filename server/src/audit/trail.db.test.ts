import { randomBytes, randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { sql } from 'kysely';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../test/database/database.ts';
import { observeStatements } from '../../../test/database/statements.ts';
import type { AuditedAccess } from '../context/work-context.ts';
import { ofDatabase } from '../db/errors.ts';
import { createDb, type Db } from '../db/kysely.ts';
import { createKeyRing } from '../secrets/key-ring.ts';
import { readAnchors } from './anchor-lines.ts';
import { type Anchor, anchorEarlierChains, insertChain } from './anchors.ts';
import type { AuditKey } from './audit-keys.ts';
import { prepareAuditKey, readAuditKeys } from './audit-keys.ts';
import { beginning } from './chain.ts';
import { columnsOf, insertDrafts } from './drafts.ts';
import { createAuditMetrics } from './metrics.ts';
import { auditEntries, tamper } from './test-audit.ts';
import { Trail } from './trail.ts';
import { type AuditVerdict, verifyChains, verifyUnlinked } from './verify.ts';

let testDatabase: TestDatabase;
let db: Db;
let key: AuditKey;
const ring = createKeyRing([randomBytes(32)]);
let logLines: string[] = [];
const log = pino({}, { write: (line: string) => void logLines.push(line) });

beforeAll(async () => {
  testDatabase = await createTestDatabase('postgresql');
  db = createDb(testDatabase.database);
});
afterAll(() => testDatabase.dispose());
beforeEach(async () => {
  await tamper(db, async (tx) => {
    await sql`TRUNCATE audit_entries, audit_drafts, audit_chains, audit_keys, operator_activity`.execute(tx);
  });
  key = await prepareAuditKey(db, ring);
  logLines = [];
});

const accessTo = (patient: string, change: Partial<AuditedAccess> = {}): AuditedAccess => ({
  actor: 'client',
  clientId: 'app',
  operation: 'get_patient',
  emr: 'north',
  careUnitId: 'ward',
  patients: [`emr_id:${patient}`],
  records: [],
  outcome: 'success',
  requestId: randomUUID(),
  writeId: undefined,
  ...change,
});

const registry = new Registry();
const metrics = createAuditMetrics(registry);
const newTrail = () => new Trail(db, { key, background: db, log, metrics });

/** Records accesses, and links them. */
async function record(trail: Trail, count: number): Promise<void> {
  for (let number = 0; number < count; number++) await trail.record(accessTo(`p-${number}`));
  await trail.linkAccesses();
}

/** Makes drafts look as if their process had been killed some time ago. */
async function ageDrafts(): Promise<void> {
  await sql`UPDATE audit_drafts SET written_at = written_at - interval '70 seconds'`.execute(db);
}

async function verdicts(anchors: readonly Anchor[] = [], keys?: ReadonlyMap<string, AuditKey>) {
  const found: AuditVerdict[] = [];
  for await (const it of verifyChains(db, keys ?? (await readAuditKeys(db, ring)), anchors)) found.push(it);
  return found.map(({ fault, position, entries }) => ({ fault, position, entries }));
}

async function* lines() {
  yield* logLines;
}

describe('requests that run at the same time', () => {
  test('share statements, and leave one entry each, in intact chains of several gateways', async () => {
    const trails = [newTrail(), newTrail(), newTrail()];
    const statements = await observeStatements(testDatabase.database.pool, async () => {
      await Promise.all(
        trails.flatMap((trail) => Array.from({ length: 150 }, (_, n) => trail.record(accessTo(`p-${n}`), n % 2 === 0))),
      );
      await Promise.all(trails.map((trail) => trail.linkAccesses()));
    });
    expect(statements.length).toBeLessThan(40);
    expect(await verdicts()).toEqual(trails.map(() => ({ fault: null, position: null, entries: 150 })));
    const entries = await auditEntries(db);
    expect(new Set(entries.map(({ request_id }) => request_id)).size).toBe(450);
  });

  test('do not fail because of one that cannot be stored', async () => {
    const trail = newTrail();
    const outcomes = await Promise.allSettled([
      trail.record(accessTo('p-1')),
      trail.record(accessTo('p-2')),
      trail.record(accessTo('p-3', { actor: 'nobody' as never })),
      trail.record(accessTo('p-4', { records: ['\0\ud800'] })),
    ]);
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'fulfilled']);
    await trail.linkAccesses();
    expect(await verdicts()).toEqual([{ fault: null, position: null, entries: 3 }]);
  });
});

describe('a draft', () => {
  test('is found and counted before it is linked, and is one entry afterwards', async () => {
    const trail = newTrail();
    await trail.record(accessTo('p-1', { requestId: 'a', writeId: randomUUID() }));
    await ageDrafts();
    const [draft] = await auditEntries(db);
    expect(draft).toMatchObject({ request_id: 'a', position: null });
    const keys = await readAuditKeys(db, ring);
    expect(await verifyUnlinked(db, keys)).toEqual({ accesses: 1, overdue: 1, falsified: 0, activity: 0 });
    await metrics.refresh(db);
    expect(await registry.getSingleMetricAsString('crossward_audit_drafts_overdue')).toMatch(/overdue 1$/m);
    await trail.linkAccesses();
    expect(await auditEntries(db)).toEqual([
      { ...draft, chain_id: expect.any(String), position: 1, hash: expect.any(Buffer) },
    ]);
    expect(await verifyUnlinked(db, keys)).toEqual({ accesses: 0, overdue: 0, falsified: 0, activity: 0 });
    await metrics.refresh(db);
    expect(await registry.getSingleMetricAsString('crossward_audit_drafts_overdue')).toMatch(/overdue 0$/m);
  });

  test('of a gateway that was killed is linked by another one', async () => {
    await newTrail().record(accessTo('p-1'));
    const another = newTrail();
    await another.linkAccesses();
    expect(await verdicts()).toEqual([]);
    await ageDrafts();
    await another.record(accessTo('p-2'));
    await another.linkAccesses();
    expect(await verdicts()).toEqual([{ fault: null, position: null, entries: 2 }]);
  });

  test.each([
    ['that somebody has changed', sql`UPDATE audit_drafts SET outcome = 'patient_not_found' WHERE request_id = 'a'`],
    [
      'that somebody has written',
      sql`INSERT INTO audit_drafts (writer_id, key_id, mac, at, actor_kind, client_id, operation, emr, care_unit_id,
          patient_hashes, record_ids, outcome, request_id)
        SELECT writer_id, key_id, mac, at, actor_kind, client_id, operation, emr, care_unit_id, patient_hashes, record_ids,
          outcome, 'b' FROM audit_drafts WHERE request_id = 'a'`,
    ],
  ])('%s is not linked, is reported, and stops no other', async (_, falsify) => {
    const trail = newTrail();
    await trail.record(accessTo('p-1', { requestId: 'a' }));
    await falsify.execute(db);
    const before = (await auditEntries(db)).length;
    await record(trail, 2);
    await record(trail, 1);
    const unlinked = await verifyUnlinked(db, await readAuditKeys(db, ring));
    expect(unlinked).toMatchObject({ accesses: 1, falsified: 1 });
    expect(await verdicts()).toEqual([{ fault: null, position: null, entries: before - 1 + 3 }]);
    expect(logLines.filter((line) => line.includes('audit draft was falsified'))).toHaveLength(1);
  });

  test('is linked behind thousands that somebody has written, each of which is reported once', async () => {
    const trail = newTrail();
    await trail.record(accessTo('p-1', { requestId: 'a' }));
    await sql`INSERT INTO audit_drafts (writer_id, key_id, mac, at, actor_kind, client_id, operation, emr, care_unit_id,
        patient_hashes, record_ids, outcome, request_id)
      SELECT writer_id, key_id, mac, at, actor_kind, client_id, operation, emr, care_unit_id, patient_hashes, record_ids,
        outcome, 'b' FROM audit_drafts, generate_series(1, 2500) WHERE request_id = 'a'`.execute(db);
    await trail.record(accessTo('p-2'));
    const statements = await observeStatements(testDatabase.database.pool, async () => {
      while (await trail.linkAccesses());
      await record(trail, 1);
    });
    const reads = statements.filter(({ text }) => text.includes('ANY(') && text.includes('FROM audit_drafts'));
    const skipped = reads.map(({ values }) => (values.find(Array.isArray) ?? []).length);
    expect(Math.max(...skipped)).toBe(1_000);
    expect(await verdicts()).toEqual([{ fault: null, position: null, entries: 3 }]);
    expect(logLines.filter((line) => line.includes('audit draft was falsified'))).toHaveLength(2500);
  });

  test('that commits after a later one is linked too', async () => {
    const trail = newTrail();
    await record(trail, 1);
    const slow = await db.startTransaction().execute();
    await insertDrafts(slow, [trail.draft(accessTo('p-slow'))]);
    await record(trail, 2);
    expect(await verdicts()).toEqual([{ fault: null, position: null, entries: 3 }]);
    await slow.commit().execute();
    await expect.poll(() => trail.linkAccesses().then(() => verdicts())).toMatchObject([{ fault: null, entries: 4 }]);
  });

  test('is linked once by gateways that link at the same time', async () => {
    const writer = newTrail();
    const linkers = Array.from({ length: 5 }, newTrail);
    for (let round = 0; round < 5; round++) {
      await Promise.all(Array.from({ length: 40 }, (_, n) => writer.record(accessTo(`p-${n}`))));
      await ageDrafts();
      await Promise.all(linkers.map((trail) => trail.linkAccesses()));
    }
    await linkers[0]?.close();
    const found = await verdicts();
    expect(found.map(({ fault }) => fault)).toEqual(found.map(() => null));
    expect(found.reduce((sum, { entries }) => sum + entries, 0)).toBe(200);
    const entries = await auditEntries(db);
    expect(new Set(entries.map(({ request_id }) => request_id)).size).toBe(200);
  });
});

describe('a connection that fails', () => {
  /** Runs `work` while statements with a text, by default those that link, fail as `fail` says. */
  async function failing(
    fail: (run: () => Promise<unknown>, statement: { text: string; values: unknown[] }) => Promise<unknown>,
    work: () => Promise<unknown>,
    text = 'link_to_chain',
  ) {
    const { pool } = testDatabase.database;
    const { connect } = pool;
    onTestFinished(() => {
      pool.connect = connect;
    });
    pool.connect = async () => {
      const client = await Reflect.apply(connect, pool, []);
      const { query } = client;
      const failingQuery = (...input: readonly unknown[]) => {
        const run = (): Promise<unknown> => Reflect.apply(query, client, input);
        const { text: sent = input[0], values = input[1] } = input[0] as Partial<Record<string, unknown>>;
        const statement = { text: String(sent), values: values as unknown[] };
        return statement.text.includes(text) ? fail(run, statement) : run();
      };
      client.query = failingQuery as typeof query;
      return client;
    };
    await work();
    pool.connect = connect;
  }
  const lost = () => ofDatabase(new Error('Connection terminated unexpectedly'), 'unknown');

  test('when an access is stored fails its request', async () => {
    const trail = newTrail();
    await failing(
      async (run) => {
        await run();
        throw lost();
      },
      () => expect(trail.record(accessTo('p-1'))).rejects.toThrow('terminated'),
      'INSERT INTO audit_drafts',
    );
  });

  test('after the statement was executed links each entry once', async () => {
    const trail = newTrail();
    await record(trail, 1);
    await failing(
      async (run) => {
        await run();
        throw lost();
      },
      () => expect(record(trail, 2)).rejects.toThrow('terminated'),
    );
    await record(trail, 1);
    expect(await verdicts()).toEqual([{ fault: null, position: null, entries: 4 }]);
  });

  test('before the statement was executed loses no entry', async () => {
    const trail = newTrail();
    await record(trail, 1);
    await failing(
      async () => {
        throw lost();
      },
      () => expect(record(trail, 2)).rejects.toThrow('terminated'),
    );
    expect(await auditEntries(db)).toHaveLength(3);
    await trail.linkAccesses();
    expect(await verdicts()).toEqual([{ fault: null, position: null, entries: 3 }]);
  });

  test('whose statement is executed after all, later: it links nothing again', async () => {
    const [frozen, another] = [newTrail(), newTrail()];
    await record(frozen, 1);
    let late = { text: '', values: [] as unknown[] };
    await failing(
      async (_run, statement) => {
        late = statement;
        throw lost();
      },
      () => expect(record(frozen, 2)).rejects.toThrow('terminated'),
    );
    await ageDrafts();
    await another.record(accessTo('p-9'));
    await another.linkAccesses();
    const client = await testDatabase.database.background.connect();
    onTestFinished(() => client.release());
    await expect(client.query(late)).rejects.toThrow('another process has linked');
    await record(frozen, 1);
    const found = await verdicts();
    expect(found.map(({ fault, entries }) => [fault, entries])).toEqual([
      [null, 2],
      [null, 3],
    ]);
  });

  test('because the server ends it in the middle of a statement', async () => {
    const trail = newTrail();
    await record(trail, 1);
    await trail.record(accessTo('p-1'));
    const linking = await db.transaction().execute(async (tx) => {
      await sql`LOCK TABLE audit_entries IN SHARE MODE`.execute(tx);
      const linking = Promise.allSettled([trail.linkAccesses()]);
      await expect
        .poll(
          async () =>
            (
              await sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%link_to_chain%'`.execute(
                // A transaction sees the activity as it was at its first look.
                createDb({ pool: testDatabase.database.background }),
              )
            ).rows.length,
        )
        .toBe(1);
      return { linking };
    });
    await linking.linking;
    await record(trail, 1);
    expect(await verdicts()).toEqual([{ fault: null, position: null, entries: 3 }]);
  });

  test('while entries that were linked are missing: a new chain begins, and the old one shows as cut off', async () => {
    const trail = newTrail();
    await record(trail, 3);
    await tamper(db, (tx) => sql`DELETE FROM audit_entries WHERE position > 1`.execute(tx));
    await failing(
      async () => {
        throw lost();
      },
      () => expect(record(trail, 2)).rejects.toThrow('terminated'),
    );
    await trail.linkAccesses();
    expect(await verdicts()).toEqual([
      { fault: 'cut_off', position: 2, entries: 1 },
      { fault: null, position: null, entries: 2 },
    ]);
    expect(logLines.join()).toContain('audit entries are missing in the database');
  });

  test('while no statement runs, and entries are missing afterwards: a new chain begins too', async () => {
    const trail = newTrail();
    await record(trail, 3);
    await tamper(db, (tx) => sql`DELETE FROM audit_entries WHERE position > 1`.execute(tx));
    await record(trail, 2);
    expect(await verdicts()).toEqual([
      { fault: 'cut_off', position: 2, entries: 1 },
      { fault: null, position: null, entries: 2 },
    ]);
  });

  test('before the first entry, and the row of the chain is missing afterwards: it is registered again', async () => {
    const trail = newTrail();
    await failing(
      async () => {
        await sql`DELETE FROM audit_chains`.execute(createDb({ pool: testDatabase.database.background }));
        throw lost();
      },
      () => expect(record(trail, 2)).rejects.toThrow('terminated'),
    );
    await trail.linkAccesses();
    expect(await verdicts()).toEqual([{ fault: null, position: null, entries: 2 }]);
  });

  test('while an anchor is stored: the new chain gets its own', async () => {
    const trail = newTrail();
    await record(trail, 3);
    let isFirst = true;
    await failing(
      async (run) => {
        if (!isFirst) return run();
        isFirst = false;
        await tamper(createDb({ pool: testDatabase.database.background }), (tx) =>
          sql`DELETE FROM audit_entries WHERE position > 1`.execute(tx),
        );
        await record(trail, 2);
        return run();
      },
      () => trail.anchor(),
      'UPDATE audit_chains',
    );
    await trail.anchor();
    expect((await readAnchors(lines())).at(-1)).toMatchObject({ position: 2 });
    const chains = await db.selectFrom('audit_chains').select('anchor_position').orderBy('started_at').execute();
    expect(chains.map(({ anchor_position }) => anchor_position)).toEqual([3, 2]);
  });
});

test('a chain whose row is removed ends, and its gateway continues in a new one', async () => {
  const trail = newTrail();
  await record(trail, 2);
  await sql`DELETE FROM audit_chains`.execute(db);
  await record(trail, 1);
  expect(await verdicts()).toEqual([
    { fault: null, position: null, entries: 1 },
    { fault: 'removed', position: 1, entries: 0 },
  ]);
});

test('a chain whose row was edited ends, and its gateway continues in a new one', async () => {
  const trail = newTrail();
  await record(trail, 2);
  await sql`UPDATE audit_chains SET linked_position = 7`.execute(db);
  await record(trail, 1);
  expect(await verdicts()).toEqual([
    { fault: null, position: null, entries: 2 },
    { fault: null, position: null, entries: 1 },
  ]);
});

describe('a chain of the previous release', () => {
  /** The previous release appended entries itself, with a hash over fewer columns. */
  async function appendAsBefore(chainId: string, count: number): Promise<void> {
    let last = beginning;
    for (let n = 1; n <= count; n++) {
      const columns = columnsOf(key, new Date(), accessTo(`p-${n}`));
      const hash = key.chain(
        last.hash,
        JSON.stringify([
          chainId,
          n,
          columns.at.getTime(),
          columns.actor_kind,
          columns.client_id,
          columns.operation,
          columns.emr,
          columns.care_unit_id,
          columns.patient_hashes.map((it) => it.toString('hex')),
          columns.record_ids,
          columns.outcome,
          columns.request_id,
        ]),
      );
      await sql`
        INSERT INTO audit_entries (chain_id, position, at, actor_kind, client_id, operation, emr, care_unit_id, patient_hashes,
          record_ids, outcome, request_id, hash, export_position)
        VALUES (${chainId}, ${n}, ${columns.at}, 'client', 'app', 'get_patient', 'north', 'ward', ${columns.patient_hashes},
          ${columns.record_ids}, 'success', ${columns.request_id}, ${hash}, ${n})`.execute(db);
      last = { position: n, hash };
    }
  }

  test('stays verifiable beside those of this one, and changes show', async () => {
    const chainId = randomUUID();
    await insertChain(db, key, { id: chainId, subject: 'accesses' });
    await appendAsBefore(chainId, 4);
    await record(newTrail(), 2);
    expect((await verdicts()).map(({ fault, entries }) => [fault, entries])).toEqual([
      [null, 4],
      [null, 2],
    ]);
    expect(await auditEntries(db)).toHaveLength(6);
    await tamper(db, (tx) => sql`UPDATE audit_entries SET id = 1 WHERE chain_id = ${chainId}`.execute(tx));
    expect((await verdicts())[0]).toMatchObject({ fault: 'changed', position: 1 });
  });
});

test('a failure that would hit any entry fails all that share a statement, and is counted', async () => {
  const trail = newTrail();
  await record(trail, 1);
  await sql`ALTER TABLE audit_drafts RENAME TO drafts_elsewhere`.execute(db);
  let outcomes: PromiseSettledResult<void>[] = [];
  const statements = await observeStatements(testDatabase.database.pool, async () => {
    const waiting = Array.from({ length: 250 }, (_, n) => trail.record(accessTo(`p-${n}`, { actor: 'background' })));
    outcomes = await Promise.allSettled(waiting);
  });
  await sql`ALTER TABLE drafts_elsewhere RENAME TO audit_drafts`.execute(db);
  expect(outcomes.filter(({ status }) => status === 'rejected')).toHaveLength(250);
  expect(statements.length).toBeLessThan(10);
  expect(await registry.getSingleMetricAsString('crossward_audit_entries_failed_total')).toContain(
    'crossward_audit_entries_failed_total{actor="background"} 250',
  );
  await record(trail, 1);
  expect(await verdicts()).toEqual([{ fault: null, position: null, entries: 2 }]);
});

describe('verification', () => {
  const columns = {
    at: sql`at + interval '1 millisecond'`,
    actor_kind: sql`'background'`,
    client_id: sql`client_id || 'x'`,
    operation: sql`'list_documents'`,
    emr: sql`'south'`,
    care_unit_id: sql`'icu'`,
    patient_hashes: sql`ARRAY['\\x00'::bytea]`,
    record_ids: sql`array_append(record_ids, 'x')`,
    outcome: sql`'patient_not_found'`,
    request_id: sql`request_id || 'x'`,
    operation_id: sql`gen_random_uuid()`,
    id: sql`id + 1000`,
    hash: sql`sha256(hash)`,
  };
  const length = 8;
  const anywhere = fc.integer({ min: 1, max: length });
  const tampering = fc.oneof(
    fc.record({ how: fc.constant('change' as const), at: anywhere, column: fc.constantFrom(...Object.keys(columns)) }),
    fc.record({ how: fc.constant('remove' as const), at: fc.integer({ min: 1, max: length - 1 }) }),
    fc.record({ how: fc.constant('close the gap' as const), at: fc.integer({ min: 1, max: length - 1 }) }),
    fc.record({ how: fc.constant('cut off' as const), at: anywhere }),
    fc.record({ how: fc.constant('remove the chain' as const), at: fc.constant(1) }),
    fc.record({ how: fc.constant('move the anchor' as const), at: anywhere }),
  );

  test('finds the first position of any tampering', async () => {
    const trail = newTrail();
    await record(trail, length);
    await trail.close();
    const anchors = await readAnchors(lines());
    expect(anchors).toMatchObject([{ position: length }]);
    expect(await verdicts(anchors)).toEqual([{ fault: null, position: null, entries: length }]);
    await sql`CREATE TABLE kept_entries AS TABLE audit_entries`.execute(db);
    await sql`CREATE TABLE kept_chains AS TABLE audit_chains`.execute(db);
    await fc.assert(
      fc.asyncProperty(tampering, async (it) => {
        await tamper(db, async (tx) => {
          const { at } = it;
          switch (it.how) {
            case 'change': {
              const value = columns[it.column as keyof typeof columns];
              await sql`UPDATE audit_entries SET ${sql.ref(it.column)} = ${value} WHERE position = ${at}`.execute(tx);
              break;
            }
            case 'remove':
              await sql`DELETE FROM audit_entries WHERE position = ${at}`.execute(tx);
              break;
            case 'close the gap':
              await sql`DELETE FROM audit_entries WHERE position = ${at}`.execute(tx);
              for (let from = at + 1; from <= length; from++) {
                await sql`UPDATE audit_entries SET position = ${from - 1} WHERE position = ${from}`.execute(tx);
              }
              break;
            case 'cut off':
              await sql`DELETE FROM audit_entries WHERE position >= ${at}`.execute(tx);
              break;
            case 'remove the chain':
              await sql`DELETE FROM audit_entries`.execute(tx);
              await sql`DELETE FROM audit_chains`.execute(tx);
              break;
            case 'move the anchor':
              await sql`DELETE FROM audit_entries WHERE position >= ${at}`.execute(tx);
              await sql`UPDATE audit_chains SET anchor_position = ${at - 1}, anchor_hash = coalesce(
                (SELECT hash FROM audit_entries WHERE position = ${at - 1}), '')`.execute(tx);
          }
        });
        const [verdict] = await verdicts(it.how === 'remove the chain' ? anchors : []);
        const fault = {
          change: 'changed',
          remove: 'missing',
          'close the gap': 'changed',
          'cut off': 'cut_off',
          'remove the chain': 'removed',
          'move the anchor': 'anchor_changed',
        }[it.how];
        expect(verdict).toMatchObject({ fault, position: it.how === 'move the anchor' ? null : it.at });
        await tamper(db, async (tx) => {
          await sql`TRUNCATE audit_entries, audit_chains`.execute(tx);
          await sql`INSERT INTO audit_chains SELECT * FROM kept_chains`.execute(tx);
          await sql`INSERT INTO audit_entries SELECT * FROM kept_entries`.execute(tx);
        });
      }),
      { numRuns: 60 },
    );
    expect(await verdicts(anchors)).toEqual([{ fault: null, position: null, entries: length }]);
  });

  test('cannot tell an earlier state that was put back with its own anchor, except by anchors outside the database', async () => {
    const trail = newTrail();
    await record(trail, 2);
    await trail.anchor();
    await sql`CREATE TABLE earlier_chains AS TABLE audit_chains`.execute(db);
    await record(trail, 3);
    await trail.anchor();
    await tamper(db, async (tx) => {
      await sql`DELETE FROM audit_entries WHERE position > 2`.execute(tx);
      await sql`DELETE FROM audit_chains`.execute(tx);
      await sql`INSERT INTO audit_chains SELECT * FROM earlier_chains`.execute(tx);
    });
    const found: AuditVerdict[] = [];
    for await (const it of verifyChains(db, await readAuditKeys(db, ring))) found.push(it);
    expect(found).toMatchObject([{ fault: null, entries: 2, anchoredUpTo: 0 }]);
    expect(await verdicts(await readAnchors(lines()))).toEqual([{ fault: 'cut_off', position: 3, entries: 2 }]);
  });

  test('says that a chain whose key is lost cannot be verified', async () => {
    await record(newTrail(), 1);
    expect(await verdicts([], new Map())).toEqual([{ fault: 'not_verifiable', position: null, entries: 0 }]);
  });
});

describe('anchors', () => {
  test('are written when the chain has grown, and at the end', async () => {
    const trail = newTrail();
    await trail.anchor();
    await record(trail, 2);
    await trail.anchor();
    await trail.anchor();
    await record(trail, 1);
    await trail.close();
    expect((await readAnchors(lines())).map(({ position }) => position)).toEqual([2, 3]);
    const chains = await db.selectFrom('audit_chains').selectAll().execute();
    expect(chains).toMatchObject([{ anchor_position: 3, closed_at: expect.any(Date) }]);
  });

  test('at the end include what was not linked yet', async () => {
    const trail = newTrail();
    await record(trail, 2);
    await trail.record(accessTo('p-3'));
    await trail.close();
    expect((await readAnchors(lines())).map(({ position }) => position)).toEqual([3]);
    const chains = await db.selectFrom('audit_chains').selectAll().execute();
    expect(chains).toMatchObject([{ anchor_position: 3, closed_at: expect.any(Date) }]);
  });

  test('are written for chains of processes that were killed', async () => {
    await record(newTrail(), 3);
    await anchorEarlierChains(db, key, log);
    await anchorEarlierChains(db, key, log);
    expect((await readAnchors(lines())).map(({ position }) => position)).toEqual([3]);
    await tamper(db, (tx) => sql`DELETE FROM audit_entries WHERE position = 3`.execute(tx));
    expect(await verdicts()).toEqual([{ fault: 'cut_off', position: 3, entries: 2 }]);
  });

  test('in a log are found among other lines', async () => {
    const line = JSON.stringify({ chain: randomUUID(), position: 7, hash: 'ab'.repeat(32), at: new Date() });
    const found = await readAnchors(
      (async function* () {
        yield '{"level":30,"msg":"request"}';
        yield `gateway-1 | ${line.replace('{', '{"msg":"audit anchor",')}`;
      })(),
    );
    expect(found).toMatchObject([{ position: 7 }]);
  });
});

describe('the key', () => {
  test('is the same after the secret key was replaced, and no longer needs the old one', async () => {
    const [first, second] = [randomBytes(32), randomBytes(32)];
    await sql`TRUNCATE audit_keys`.execute(db);
    const before = await prepareAuditKey(db, createKeyRing([first]));
    await prepareAuditKey(db, createKeyRing([second, first]));
    const after = await prepareAuditKey(db, createKeyRing([second]));
    expect(after.id).toBe(before.id);
    expect(after.hashPatient('north', 'emr_id:p-1')).toEqual(before.hashPatient('north', 'emr_id:p-1'));
  });

  test('is one for gateways that start at the same time', async () => {
    await sql`TRUNCATE audit_keys`.execute(db);
    const keys = await Promise.all(Array.from({ length: 5 }, () => prepareAuditKey(db, ring)));
    expect(new Set(keys.map(({ id }) => id)).size).toBe(1);
  });

  test('is a new one if the row of the old one is moved away, and chains of both verify when it is back', async () => {
    await record(newTrail(), 1);
    await sql`CREATE TABLE moved_keys AS TABLE audit_keys`.execute(db);
    await sql`DELETE FROM audit_keys`.execute(db);
    const old = key;
    key = await prepareAuditKey(db, ring);
    expect(key.id).not.toBe(old.id);
    await sql`INSERT INTO audit_keys SELECT * FROM moved_keys`.execute(db);
    expect((await prepareAuditKey(db, ring)).id).toBe(key.id);
    await record(newTrail(), 2);
    expect((await verdicts()).map(({ fault, entries }) => [fault, entries])).toEqual([
      [null, 1],
      [null, 2],
    ]);
  });

  test('is a new one if the secret key of the old one is lost', async () => {
    const other = await prepareAuditKey(db, createKeyRing([randomBytes(32)]));
    expect(other.id).not.toBe(key.id);
    expect((await prepareAuditKey(db, ring)).id).toBe(key.id);
  });
});
