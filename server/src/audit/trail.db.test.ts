import { randomBytes, randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { sql } from 'kysely';
import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../test/database.ts';
import { observeStatements } from '../../../test/statements.ts';
import { ofDatabase } from '../db/errors.ts';
import { createDb, type Db } from '../db/kysely.ts';
import { createKeyRing } from '../secrets/key-ring.ts';
import { type Access, entryOf } from './access.ts';
import { readAnchors } from './anchor-lines.ts';
import { type Anchor, anchorEarlierChains, insertChain } from './anchors.ts';
import type { AuditKey } from './audit-key.ts';
import { appendTo, beginning } from './chain.ts';
import { prepareAuditKey, readAuditKeys } from './key-store.ts';
import { deleteOldEntries } from './retention.ts';
import { insertEntries } from './store.ts';
import { auditEntries, tamper } from './test-audit.ts';
import { Trail } from './trail.ts';
import { type Verdict, verifyChains } from './verify.ts';

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
    await sql`TRUNCATE audit_entries, audit_chains, audit_keys`.execute(tx);
  });
  key = await prepareAuditKey(db, ring);
  logLines = [];
});

const accessTo = (patient: string, change: Partial<Access> = {}): Access => ({
  actor: 'client',
  clientId: 'app',
  operation: 'get_patient',
  emr: 'north',
  careUnitId: 'ward',
  patients: [`emr_id:${patient}`],
  records: [],
  outcome: 'success',
  requestId: randomUUID(),
  ...change,
});

const newTrail = () => new Trail(db, key, log);

async function record(trail: Trail, count: number): Promise<void> {
  for (let number = 0; number < count; number++) await trail.record(accessTo(`p-${number}`));
}

async function verdicts(anchors: readonly Anchor[] = [], keys?: ReadonlyMap<string, AuditKey>) {
  const found: Verdict[] = [];
  for await (const it of verifyChains(db, keys ?? (await readAuditKeys(db, ring)), anchors)) found.push(it);
  return found.map(({ fault, position, entries }) => ({ fault, position, entries }));
}

async function* lines() {
  yield* logLines;
}

describe('requests that run at the same time', () => {
  test('share statements, and leave one entry each, in intact chains of several gateways', async () => {
    const trails = [newTrail(), newTrail(), newTrail()];
    const statements = await observeStatements(testDatabase.database.pool, () =>
      Promise.all(trails.flatMap((trail) => Array.from({ length: 150 }, (_, n) => trail.record(accessTo(`p-${n}`))))),
    );
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
    expect(await verdicts()).toEqual([{ fault: null, position: null, entries: 3 }]);
  });
});

describe('a connection that fails', () => {
  /** Runs `work` while statements that insert entries fail as `fail` says. */
  async function failing(fail: (run: () => Promise<unknown>) => Promise<unknown>, work: () => Promise<unknown>) {
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
        return JSON.stringify(input[0]).includes('INSERT INTO audit_entries') ? fail(run) : run();
      };
      client.query = failingQuery as typeof query;
      return client;
    };
    await work();
    pool.connect = connect;
  }
  const lost = () => ofDatabase(new Error('Connection terminated unexpectedly'), 'unknown');

  test('after the statement was executed leaves each entry once', async () => {
    const trail = newTrail();
    await record(trail, 1);
    let failures = 0;
    await failing(
      async (run) => {
        const result = await run();
        if (failures++ > 0) return result;
        throw lost();
      },
      () => record(trail, 2),
    );
    expect(failures).toBeGreaterThan(0);
    expect(await verdicts()).toEqual([{ fault: null, position: null, entries: 3 }]);
  });

  test('every time makes the request fail, and the chain continues afterwards', async () => {
    const trail = newTrail();
    await record(trail, 1);
    await failing(
      async () => {
        throw lost();
      },
      async () => {
        const waiting = [trail.record(accessTo('p-1')), trail.record(accessTo('p-2'))];
        for (const { status } of await Promise.allSettled(waiting)) expect(status).toBe('rejected');
      },
    );
    await record(trail, 2);
    expect(await verdicts()).toEqual([{ fault: null, position: null, entries: 3 }]);
  });

  test('whose statement is executed after all, later: the chain continues behind it', async () => {
    const trail = newTrail();
    await record(trail, 1);
    const [first] = await auditEntries(db);
    if (!first) throw new Error('No entry');
    const late = appendTo(key, first.chain_id, first, [entryOf(key, new Date(), accessTo('p-late'))]);
    const elsewhere = createDb({ pool: testDatabase.database.background });
    let isExecuted = false;
    await failing(
      async (run) => {
        if (!isExecuted) await insertEntries(elsewhere, late);
        isExecuted = true;
        return run();
      },
      () => record(trail, 1),
    );
    expect(await verdicts()).toEqual([{ fault: null, position: null, entries: 3 }]);
  });

  test('because the server ends it in the middle of a statement', async () => {
    const trail = newTrail();
    await record(trail, 1);
    const stored = await db.transaction().execute(async (tx) => {
      await sql`LOCK TABLE audit_entries IN SHARE MODE`.execute(tx);
      const waiting = [trail.record(accessTo('p-1')), trail.record(accessTo('p-2'))];
      await expect
        .poll(
          async () =>
            (
              await sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%audit_entries%'`.execute(
                tx,
              )
            ).rows.length,
          { timeout: 60_000 },
        )
        .toBe(1);
      return waiting;
    });
    await Promise.all(stored);
    expect(await verdicts()).toEqual([{ fault: null, position: null, entries: 3 }]);
  });

  test('while entries that were stored are missing: a new chain begins, and the old one shows as cut off', async () => {
    const trail = newTrail();
    await record(trail, 3);
    await tamper(db, (tx) => sql`DELETE FROM audit_entries WHERE position > 1`.execute(tx));
    let failures = 0;
    await failing(
      async (run) => {
        if (failures++ === 0) throw lost();
        return run();
      },
      () => record(trail, 2),
    );
    expect(await verdicts()).toEqual([
      { fault: 'cut_off', position: 2, entries: 1 },
      { fault: null, position: null, entries: 2 },
    ]);
    expect(logLines.join()).toContain('audit entries are missing in the database');
  });
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
  }, 60_000);

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

describe('after their retention', () => {
  /** A chain of ten entries, of which the first ones were written earlier. */
  async function backdate(days: number, upTo: number): Promise<void> {
    const id = randomUUID();
    await insertChain(db, key, id);
    const entries = Array.from({ length: 10 }, (_, n) =>
      entryOf(key, new Date(Date.now() - (n < upTo ? days * 86_400_000 : 0)), accessTo(`p-${n}`)),
    );
    await insertEntries(db, appendTo(key, id, beginning, entries));
  }

  test('entries are deleted from the beginning of a chain, and the rest still verifies', async () => {
    await backdate(11, 7);
    await deleteOldEntries(db, key, 10, 4);
    expect(await verdicts()).toEqual([{ fault: null, position: null, entries: 6 }]);
    await deleteOldEntries(db, key, 10, 4);
    await deleteOldEntries(db, key, 10, 4);
    expect(await verdicts()).toEqual([{ fault: null, position: null, entries: 3 }]);
    expect((await auditEntries(db)).map(({ position }) => position)).toEqual([8, 9, 10]);
  });

  test('a removal that is disguised as a deletion is found', async () => {
    await backdate(11, 7);
    await deleteOldEntries(db, key, 10, 4);
    await tamper(db, async (tx) => {
      await sql`UPDATE audit_chains SET checkpoint_position = 5, checkpoint_hash =
        (SELECT hash FROM audit_entries WHERE position = 5)`.execute(tx);
      await sql`DELETE FROM audit_entries WHERE position <= 5`.execute(tx);
    });
    expect(await verdicts()).toEqual([{ fault: 'checkpoint_changed', position: null, entries: 0 }]);
  });

  test('nothing younger is deleted', async () => {
    await backdate(9, 7);
    await deleteOldEntries(db, key, 10, 4);
    expect(await auditEntries(db)).toHaveLength(10);
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

  test('is a new one if the secret key of the old one is lost', async () => {
    const other = await prepareAuditKey(db, createKeyRing([randomBytes(32)]));
    expect(other.id).not.toBe(key.id);
    expect((await prepareAuditKey(db, ring)).id).toBe(key.id);
  });
});
