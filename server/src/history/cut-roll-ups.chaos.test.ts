import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../test/database/database.ts';
import { type PostgresProxy, startPostgresProxy } from '../../../test/postgres-proxy/postgres-proxy.ts';
import { isWrite, type Way } from '../../../test/postgres-proxy/ways.ts';
import { type Database, openDatabase } from '../db/database.ts';
import { createDb, type Db } from '../db/kysely.ts';
import { lastHours } from './columns.ts';
import { recordEhrs } from './ehr-recorder.ts';
import { readCounts, readEhrColumns } from './read-history.ts';
import { rollUp } from './roll-up.ts';

let direct: TestDatabase;
let proxy: PostgresProxy;
let behind: Database;
let db: Db;
beforeAll(async () => {
  direct = await createTestDatabase('postgresql');
  proxy = await startPostgresProxy(direct.url ?? '');
  behind = await openDatabase({ databaseUrl: proxy.url, dataDir: '', maxConnections: 2 });
  db = createDb(behind);
});
afterAll(async () => {
  await proxy.heal();
  await behind.close();
  await proxy.close();
  await direct.dispose();
});
beforeEach(async () => {
  await sql`TRUNCATE history_counts, ehr_history, events CASCADE`.execute(createDb(direct.database));
});

const ways: readonly Way[] = [{ kind: 'before' }, { kind: 'after' }, { kind: 'in request' }, { kind: 'in answer' }];
const today = () => lastHours(new Date(), 'UTC');

test.each(ways)('what happened is counted once, if the connection breaks at a roll-up: %o', async (way) => {
  const open = createDb(direct.database);
  await sql`UPDATE history_progress SET counted_until = date_bin('15 minutes', now() - interval '1 day', '2000-01-01Z')`.execute(
    open,
  );
  await sql`
    INSERT INTO events (type, emr, data, occurred_at)
    SELECT 'appointment.booked', 'ehr', '{}', now() - hour * interval '1 hour' FROM generate_series(0, 9) AS hour`.execute(
    open,
  );
  const cut = proxy.cutNext(way, isWrite);
  await expect(rollUp(db)).rejects.toThrow();
  await cut.settled;
  const booked = async () => (await readCounts(open, today())).reduce((sum, it) => sum + it.booked, 0);
  expect(await booked()).toBe(10);
  while (await rollUp(db));
  expect(await booked()).toBe(10);
});

test.each(ways)('calls to an EHR are counted once, if the connection breaks when they are written: %o', async (way) => {
  const open = createDb(direct.database);
  let now = Math.floor(Date.now() / 3_600_000) * 3_600_000;
  const first = { start: now, calls: 7, failures: 2, median: 1, slowest: 1 };
  const record = recordEhrs({
    db,
    ehrs: () => [
      { id: 'ehr', isOpen: true, health: () => ({ breaker: 'closed', lastSuccessAt: new Date(now) }) as never },
    ],
    calls: { of: () => [first], latencies: () => [5] } as never,
    now: () => now,
  });
  await record();
  now += 60_000;
  const cut = proxy.cutNext(way, isWrite);
  await expect(record()).rejects.toThrow();
  await cut.settled;
  now += 60_000;
  await record();
  const columns = (await readEhrColumns(open, today())).get('ehr') ?? [];
  expect(columns.reduce((sum, { calls }) => sum + calls, 0)).toBe(7);
  expect(columns.reduce((sum, { running }) => sum + running, 0)).toBe(3);
});
