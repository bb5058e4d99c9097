import { sql } from 'kysely';
import { afterAll, beforeEach, describe, expect, inject, test } from 'vitest';
import { createTestDatabase } from '../../../test/database/database.ts';
import { observeStatements } from '../../../test/database/statements.ts';
import { createDb, type Db } from '../db/kysely.ts';
import { latencyOf, noLatencies, recordCalls } from '../ehr/guard/call-history.ts';
import type { EhrHealth } from '../ehr/guard/guard.ts';
import { lastDays, lastHours } from './columns.ts';
import { recordEhrs } from './ehr-recorder.ts';
import { mergeProcesses } from './merge-processes.ts';
import { readEhrColumns, unseen } from './read-history.ts';

const minute = 60_000;
const start = Date.UTC(2026, 2, 29, 0, 0);
const silent = {
  observe: () => undefined,
  throttled: () => undefined,
  watch: () => undefined,
  forget: () => undefined,
};

describe(`on ${inject('databaseKind')}`, async () => {
  const { database, dispose } = await createTestDatabase();
  afterAll(() => dispose());
  const db = createDb(database);
  let now = start;
  beforeEach(async () => {
    now = start;
    await sql`TRUNCATE ehr_history`.execute(db);
  });

  /** A gateway process with one EHR. */
  function newProcess(writing: Db = db) {
    const health: { -readonly [Key in keyof EhrHealth]: EhrHealth[Key] } = {
      breaker: 'closed',
      lastSuccessAt: null,
      answeredFromMemoryAt: undefined,
      pause: undefined,
    };
    const { metrics, history } = recordCalls(silent, () => new Date(now));
    const ehr = { id: 'ehr', isOpen: true, health: () => health };
    const round = recordEhrs({ db: writing, ehrs: () => [ehr], calls: history, now: () => now });
    const call = (outcome: 'ok' | 'timeout', milliseconds: number) => {
      metrics.observe('ehr', 'listTimeSlots', outcome, milliseconds / 1000);
      if (outcome === 'ok') health.lastSuccessAt = new Date(now);
    };
    return { health, ehr, call, round };
  }

  /** Looks six times a minute, as the background job does. */
  async function run(minutes: number, ...processes: readonly { round(): Promise<void> }[]): Promise<void> {
    const end = now + minutes * minute;
    for (; now < end; now += minute / 6) for (const { round } of processes) await round();
  }

  async function hours() {
    return (await readEhrColumns(db, lastHours(new Date(now), 'UTC'))).get('ehr') ?? [];
  }

  test('a minute is written once, whatever is called in it', async () => {
    const process = newProcess();
    process.call('ok', 10);
    const statements = await observeStatements(database.pool, async () => {
      for (let count = 0; count < 10; count++) {
        for (let calls = 0; calls < 100; calls++) process.call('ok', 10);
        await run(1, process);
      }
    });
    expect(statements).toHaveLength(10);
    await run(1, process);
    const last = (await hours()).at(-1);
    expect(last).toMatchObject({ running: 11, known: 11, unavailable: 0, calls: 1001, failures: 0 });
    expect(last && latencyOf(last.latencies, 0.95)).toBeOneOf([11, 12, 13, 14, 15]);
  });

  test('processes are merged after a day, by several gateways once, and the plots stay as they are', async () => {
    await sql`
      INSERT INTO ehr_history
      SELECT quarter, emr, ('00000000-0000-0000-0000-00000000000' || process)::uuid, 32767 >> process, 255 >> process,
        process & 1, 10 * process, process, array_fill(process, ARRAY[${noLatencies.length}::integer])
      FROM generate_series(date_bin('15 minutes', now() - interval '3 days', '2000-01-01 00:00Z'), now(), interval '15 minutes')
        AS quarter, unnest(ARRAY['north', 'south']) AS emr, generate_series(1, 3) AS process`.execute(db);
    await sql`UPDATE history_progress SET merged_until = date_bin('15 minutes', now() - interval '3 days', '2000-01-01 00:00Z')`.execute(
      db,
    );
    const shown = (columns: ReturnType<typeof lastDays>) => readEhrColumns(db, columns);
    const [days, last] = [lastDays(new Date(), 'Europe/Oslo'), lastHours(new Date(), 'UTC')];
    const before = [await shown(days), await shown(last)];
    while ((await Promise.all([mergeProcesses(db), mergeProcesses(db)])).includes(true));
    expect([await shown(days), await shown(last)]).toEqual(before);
    const { rows } = await sql`
      SELECT quarter < now() - interval '26 hours' AS old, count(*)::integer / count(DISTINCT (quarter, emr))::integer AS each
      FROM ehr_history WHERE quarter NOT BETWEEN now() - interval '26 hours' AND now() - interval '24 hours'
      GROUP BY 1 ORDER BY 1`.execute(db);
    expect(rows).toEqual([
      { old: false, each: 3 },
      { old: true, each: 1 },
    ]);
    expect(await mergeProcesses(db)).toBe(false);
  });

  test('two processes are added up, and a minute that both saw counts once', async () => {
    const [one, other] = [newProcess(), newProcess()];
    one.call('ok', 10);
    await run(20, one, other);
    // The other process has not called the EHR yet.
    expect((await hours()).at(-1)).toMatchObject({ running: 20, known: 20, unavailable: 0 });
    other.call('timeout', 1000);
    other.health.breaker = 'open';
    await run(5, one, other);
    other.health.breaker = 'closed';
    one.call('ok', 1000);
    other.call('ok', 1000);
    await run(5, one, other);
    const last = (await hours()).at(-1);
    expect(last).toMatchObject({ running: 30, known: 30, unavailable: 5, calls: 4, failures: 1 });
    expect(last && latencyOf(last.latencies, 0.5)).toBeGreaterThanOrEqual(1000);
  });

  test('an EHR that nobody has called is neither available nor unavailable, and one that is not connected is unavailable', async () => {
    const process = newProcess();
    await run(3, process);
    expect((await hours()).at(-1)).toMatchObject({ running: 3, known: 0, unavailable: 0 });
    process.ehr.isOpen = false;
    await run(2, process);
    expect((await hours()).at(-1)).toMatchObject({ running: 5, known: 2, unavailable: 2 });
  });

  test('a gateway that was away leaves a gap', async () => {
    const before = newProcess();
    before.call('ok', 10);
    await run(50, before);
    now += 3 * 60 * minute;
    const after = newProcess();
    after.call('ok', 10);
    await run(5, after);
    const seen = await hours();
    expect(seen.slice(-5).map(({ running }) => running)).toEqual([0, 50, 0, 0, 5]);
    expect(seen.at(-2)).toEqual(unseen);
  });

  test('what was not written while the database was away is made up for, and a lost answer counts nothing twice', async () => {
    let fault: 'none' | 'away' | 'lost answer' = 'none';
    const connect = async () => {
      if (fault === 'away') throw new Error('away');
      const client = await database.pool.connect();
      const query = async (...args: Parameters<typeof client.query>) => {
        const result = await client.query(...args);
        if (fault === 'lost answer') throw new Error('lost answer');
        return result;
      };
      return { query, release: () => client.release() };
    };
    const faulty = createDb({ pool: Object.assign(Object.create(database.pool), { connect }) });
    const process = newProcess(faulty);
    const failures: unknown[] = [];
    const patient = { round: () => process.round().catch((error: unknown) => void failures.push(error)) };
    for (const next of ['none', 'away', 'lost answer', 'none'] as const) {
      fault = next;
      process.call('ok', 10);
      await run(25, patient);
    }
    expect(failures).toHaveLength(50);
    const seen = (await hours()).slice(-2);
    expect(seen.map(({ running, known }) => [running, known])).toEqual([
      [60, 60],
      [40, 40],
    ]);
    expect(seen.reduce((sum, { calls }) => sum + calls, 0)).toBe(4);
  });

  test('a day on which clocks change has the minutes of its own hours', async () => {
    const process = newProcess();
    process.call('ok', 10);
    // From an hour before midnight in Oslo until an hour after the next one: 25 hours, because one is skipped.
    now = Date.UTC(2026, 2, 28, 22, 0);
    for (const end = now + 25 * 60 * minute; now < end; now += 5 * minute) await process.round();
    const days = (await readEhrColumns(db, lastDays(new Date(now - 5 * minute), 'Europe/Oslo'))).get('ehr') ?? [];
    expect(days.slice(-3).map(({ running }) => running)).toEqual([12, 23 * 12, 12]);
  });
});
