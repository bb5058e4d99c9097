import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { Registry } from 'prom-client';
import { afterAll, expect, test, vi } from 'vitest';
import { fillTables, fullScans, largeTables } from '../../../test/database/large-tables.ts';
import {
  hidingItsStatements,
  observeStatements,
  type Statement,
  unobserved,
} from '../../../test/database/statements.ts';
import { wrapConnector } from '../../../test/ehrs/other-ehrs.ts';
import { startGateway } from '../../../test/gateway/gateway.ts';
import { createEhrChangeMetrics } from '../appointments/ehr-changes/metrics.ts';
import { createAuditMetrics } from '../audit/metrics.ts';
import { createMonths } from '../audit/months.ts';
import { searchEntries } from '../audit/search.ts';
import { createDatabaseClock } from '../db/clock.ts';
import { createDb } from '../db/kysely.ts';
import { recordCalls } from '../ehr/guard/call-history.ts';
import { createEhrMetrics } from '../ehr/guard/metrics.ts';
import { createPauses } from '../ehr/pauses.ts';
import { lastHours } from '../history/columns.ts';
import { readCounts, readEhrColumns } from '../history/read-history.ts';
import { listFailed } from '../messages/failed.ts';
import { listOpen } from '../messages/open-messages.ts';
import { createAsker } from '../slot-search/ask.ts';
import { createDispatcher } from '../webhooks/dispatcher.ts';
import { createWebhookMetrics } from '../webhooks/metrics.ts';
import { startReplay } from '../webhooks/replay.ts';
import { createActivity } from './activity.ts';
import { createRoundMetrics } from './round-metrics.ts';
import { backgroundWork } from './rounds.ts';

const gateway = await startGateway({ connectors: [wrapConnector(hidingItsStatements)] });
afterAll(() => gateway.close());
const { database } = gateway;
const { services, log } = gateway.deps;

/** Statements of the gateway's own background jobs in the meantime count too, because they may do some of the work. */
async function observeAll(work: () => Promise<unknown>): Promise<Statement[]> {
  let inFront: Statement[] = [];
  const behind = await observeStatements(database.background, async () => {
    inFront = await observe(work);
  });
  return [...new Map([...inFront, ...behind.filter(isPlanned)].map((it) => [it.text, it])).values()];
}

/** Without the statements of the gateway's own background jobs. */
async function observe(work: () => Promise<unknown>): Promise<Statement[]> {
  return (await observeStatements(database.pool, work)).filter(isPlanned);
}

const isPlanned = ({ text }: Statement) => /^\s*(with|select|insert|update|delete)\b/i.test(text);

/** The statements that scan a whole table or index. */
async function readingWhole(statements: readonly Statement[]): Promise<string[]> {
  const found: string[] = [];
  for (const statement of statements) {
    const whole = await fullScans(database, statement);
    if (whole.length > 0) found.push(`${whole.join(', ')}: ${statement.text}`);
  }
  return found;
}

/** Statements that run only if a background job has something to do. */
const ofFullRounds = [
  /update operations set\s+lease_token/i,
  /update "operations" set .*"consecutive_failures"/,
  /update "confirmation_items" as "item" set "state" = .*"operation_id"/,
  /delete from operations/i,
  /delete from messages/i,
  /delete from confirmation_items/i,
  /update confirmations\s+set purged_at/i,
];

test('no background job scans a growing table or index', async () => {
  const statements = await observeAll(async () => {
    await unobserved(() => fillTables(database));
    const db = createDb(database);
    const webhookMetrics = createWebhookMetrics(new Registry());
    const dispatcher = createDispatcher({
      db,
      keys: services.keys,
      clients: gateway.deps.clients,
      sender: { send: async () => ({}), close: async () => undefined },
      notify: async () => ({ payload: '' }),
      settings: { timeout_ms: 1000, retry_seconds: [] },
      metrics: webhookMetrics,
      log,
    });
    const retention = { confirmation_days: 90, event_days: 30, audit_days: 1830 };
    const activity = createActivity();
    const noted = vi.spyOn(activity, 'note');
    const { regular, ofEhr, whenDue, look } = backgroundWork(
      { ...services, db },
      {
        publishing: db,
        activity,
        retention,
        pauses: createPauses(db, () => new Date()),
        followStored: () => undefined,
        unusedStored: () => [],
        checkDueEhr: async () => false,
        slots: createAsker(db, log),
        sameServices: () => [],
        clients: gateway.deps.clients,
        dispatcher,
        auditMetrics: createAuditMetrics(new Registry()),
        watchProofs: async () => undefined,
        webhookMetrics,
        ehrChangeMetrics: createEhrChangeMetrics(new Registry()),
        roundMetrics: createRoundMetrics(new Registry()),
        calls: recordCalls(createEhrMetrics(new Registry())).history,
        clock: createDatabaseClock(db),
        log,
      },
    );
    await look();
    // A message that has not left keeps the process from looking less often.
    expect(noted).toHaveBeenCalled();
    const ofEhrs = [...services.ehrs.keys()].flatMap(ofEhr);
    for (const { round } of [...whenDue(), ...ofEhrs, ...regular]) await round();
    await dispatcher.stop();
  });
  const texts = statements.map(({ text }) => text);
  for (const table of largeTables) {
    if (table !== 'audit_entries') expect(texts.some((text) => text.includes(table))).toBe(true);
  }
  for (const text of ofFullRounds) expect(texts).toContainEqual(expect.stringMatching(text));
  expect(await readingWhole(statements)).toEqual([]);
});

test('the jobs that create and drop months of the audit trail scan no entries while there is nothing to do', async () => {
  const db = createDb(database);
  const rolledBack = db.transaction().execute(async (tx) => {
    // PostgreSQL chooses a plan for any values at the sixth execution.
    for (let round = 0; round < 8; round++) {
      await createMonths(tx);
      await sql`SELECT drop_audit_months(1830)`.execute(tx);
    }
    const { rows } = await sql`
      SELECT relname AS name FROM pg_stat_xact_user_tables WHERE seq_scan > 0 AND relname ~ '^audit_entries'`.execute(
      tx,
    );
    throw rows;
  });
  await expect(rolledBack).rejects.toEqual([]);
});

test.each([
  ['a patient', { emr: 'sandbox-no', patient: 'emr_id:p-1' }],
  ['a patient and a time', { emr: 'sandbox-no', patient: 'emr_id:p-1', from: new Date('2026-01-01') }],
  ['a client', { clientId: 'client-7' }],
  ['a time', { from: new Date(Date.now() - 86_400_000) }],
] as const)('a search of the audit trail for %s does not scan it', async (_, search) => {
  const before = { at: new Date(), key: randomUUID() };
  const observed = await observe(async () => {
    await searchEntries(createDb(database), [services.audit.key], search, { limit: 51, before });
  });
  const statements = observed.filter(({ text }) => text.includes('audit_entries'));
  expect(statements).toHaveLength(1);
  expect(await readingWhole(statements)).toEqual([]);
});

test.each([
  ['open messages', listOpen],
  ['failed messages', listFailed],
] as const)("an operator's list of %s does not scan a growing table either", async (_, list) => {
  expect(await readingWhole(await observeAll(() => list(createDb(database))))).toEqual([]);
});

test("the plots of the console's overview scan no growing table", async () => {
  const columns = lastHours(new Date(), 'UTC');
  const statements = await observe(async () => {
    await readCounts(createDb(database), columns);
    await readEhrColumns(createDb(database), columns);
  });
  expect(statements).toHaveLength(2);
  expect(await readingWhole(statements)).toEqual([]);
});

test('the start of a replay does not scan the events', async () => {
  const db = createDb(database);
  const { id } = await db.selectFrom('webhook_endpoints').select('id').executeTakeFirstOrThrow();
  for (const from of [new Date(0), new Date(Date.now() - 60_000)]) {
    const statements = await observeAll(() => db.transaction().execute((tx) => startReplay(tx, id, from)));
    expect(statements.map(({ text }) => text)).toContainEqual(expect.stringContaining('SET replay_until'));
    expect(await readingWhole(statements)).toEqual([]);
  }
});
