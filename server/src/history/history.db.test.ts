import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { sql } from 'kysely';
import { afterAll, describe, expect, inject, test } from 'vitest';
import { createTestDatabase } from '../../../test/database/database.ts';
import { deleteOldData } from '../background/delete-old-data.ts';
import { createDb } from '../db/kysely.ts';
import { type Column, lastDays, lastHours } from './columns.ts';
import { type Happening, happenings } from './happenings.ts';
import { readCounts } from './read-history.ts';
import { deleteOldHistory } from './retention.ts';
import { rollUp } from './roll-up.ts';

const minute = 60_000;
/** Clocks are set back and forward, at the edges of days and beside them, and an offset of 45 minutes. */
const histories = [
  ['Europe/Oslo', '2025-10-27T12:34:56Z'],
  ['Europe/Oslo', '2025-03-31T12:34:56Z'],
  ['America/Santiago', '2025-09-08T12:34:56Z'],
  ['Australia/Lord_Howe', '2025-04-06T12:34:56Z'],
  ['Asia/Kathmandu', '2025-01-02T23:15:00Z'],
  ['UTC', '2025-03-01T00:00:00Z'],
] as const;

/** Instants at the borders of columns, beside them, and between. */
function instantsIn(columns: readonly Column[]) {
  const borders = columns.flatMap(({ from, until }) => [from.getTime(), until.getTime()]);
  const [first, last] = [Math.min(...borders), Math.max(...borders)];
  return fc
    .oneof(
      fc.tuple(fc.constantFrom(...borders), fc.constantFrom(-15 * minute, -1, 0, 1, 15 * minute)),
      fc.tuple(fc.integer({ min: first - 20 * minute, max: last + 20 * minute }), fc.constant(0)),
    )
    .map(([at, beside]) => new Date(at + beside));
}

describe(`on ${inject('databaseKind')}`, async () => {
  const { database, dispose } = await createTestDatabase();
  afterAll(() => dispose());
  const db = createDb(database);

  const add: Record<Happening, (at: Date) => Promise<unknown>> = {
    booked: (at) => addEvent('appointment.booked', at),
    moved: (at) => addEvent('appointment.updated', at, { changed: ['comment', 'start'] }),
    cancelled: (at) => addEvent('appointment.cancelled', at),
    message_failed: (at) => addEvent('message.failed', at),
    code_sent: (at) =>
      sql`INSERT INTO messages (id, confirmation_id, sequence, emr, care_unit_id, channel, first_appointment_id, state,
          expires_at, completed_at)
        VALUES (${randomUUID()}, ${randomUUID()}, 1, 'ehr', 'ward', 'sms', 'a-1', 'sent', ${at}, ${at})`.execute(db),
    code_confirmed: (at) =>
      sql`INSERT INTO confirmations (id, client_id, emr, care_unit_id, kind, channel, max_attempts, expires_at, confirmed_at)
        VALUES (${randomUUID()}, 'app', 'ehr', 'ward', 'booking', 'sms', 5, ${at}, ${at})`.execute(db),
    delivered: (at) => addDelivery('delivered', null, at),
    delivery_failed: (at) => addDelivery('failed', 'status', at),
  };

  function addEvent(type: string, at: Date, data: unknown = {}, endpoint: string | null = null) {
    return sql`INSERT INTO events (type, emr, data, occurred_at, endpoint_id)
      VALUES (${type}, 'ehr', ${JSON.stringify(data)}, ${at}, ${endpoint})`.execute(db);
  }

  function addDelivery(state: string, reason: string | null, at: Date) {
    // Its event is a test event, which counts as nothing.
    return sql`
      WITH endpoint AS (
        INSERT INTO webhook_endpoints (id, client_id, sealed_url, sealed_secret)
        VALUES (gen_random_uuid(), 'app', '', '') RETURNING id
      ), event AS (
        INSERT INTO events (type, emr, data, occurred_at, endpoint_id)
        SELECT 'appointment.booked', 'ehr', '{}', ${at}::timestamptz, id FROM endpoint RETURNING id, endpoint_id)
      INSERT INTO webhook_deliveries (endpoint_id, event_id, event_position, state, failure_reason, completed_at)
      SELECT endpoint_id, id, 1, ${state}, ${reason}::text, ${at}::timestamptz FROM event`.execute(db);
  }

  async function begin(countedUntil: Date): Promise<void> {
    await sql`TRUNCATE history_counts, events, messages, confirmations, webhook_endpoints CASCADE`.execute(db);
    await sql`UPDATE history_progress SET counted_until = date_bin('15 minutes', ${countedUntil}, '2000-01-01 00:00Z')`.execute(
      db,
    );
  }

  /** What happened at these times, as a plot must show it. */
  function expected(columns: readonly Column[], happened: readonly (readonly [Happening, Date])[]) {
    return columns.map(({ from, until }) =>
      Object.fromEntries(
        happenings.map((kind) => [kind, happened.filter(([it, at]) => it === kind && from <= at && at < until).length]),
      ),
    );
  }

  test.each(
    histories.flatMap(([zone, now]) => [
      ['hours', zone, now, lastHours] as const,
      ['days', zone, now, lastDays] as const,
    ]),
  )(
    '%s in %s at %s have the exact counts, however much two gateways have rolled up',
    async (_, zone, now, columnsOf) => {
      const columns = columnsOf(new Date(now), zone);
      const first = columns[0]?.from ?? new Date(now);
      const happening = fc.tuple(fc.constantFrom(...happenings), instantsIn(columns));
      await fc.assert(
        fc.asyncProperty(
          fc.array(happening, { maxLength: 12 }),
          fc.integer({ min: -2 * 24 * 60, max: 31 * 24 * 60 }),
          fc.integer({ min: 0, max: 4 }),
          async (happened, countedMinutes, rounds) => {
            // What was rolled up before is lost, so nothing happens before.
            const counted = new Date(first.getTime() + Math.min(countedMinutes, 0) * minute);
            await begin(counted);
            for (const [kind, at] of happened) await add[kind](at);
            for (let round = 0; round < rounds; round++) await Promise.all([rollUp(db), rollUp(db)]);
            expect(await readCounts(db, columns)).toEqual(expected(columns, happened));
          },
        ),
        { numRuns: 6 },
      );
    },
  );

  /** The last 24 hours. */
  const today = () => lastHours(new Date(), 'UTC');
  async function totals(): Promise<Record<string, number>> {
    const counts = await readCounts(db, today());
    return Object.fromEntries(happenings.map((it) => [it, counts.reduce((sum, column) => sum + column[it], 0)]));
  }
  const none = Object.fromEntries(happenings.map((it) => [it, 0]));

  test('what is no happening is not counted: a changed comment, a test event, the end of a delivery whose endpoint is disabled', async () => {
    const now = new Date();
    await begin(new Date(now.getTime() - 60 * minute));
    await addEvent('appointment.updated', now, { changed: ['comment'] });
    await addEvent('appointment.awaiting_confirmation', now);
    await addDelivery('failed', 'endpoint_disabled', now);
    expect(await totals()).toEqual(none);
    await addEvent('appointment.updated', now, { changed: ['resource_id'] });
    expect(await totals()).toEqual({ ...none, moved: 1 });
  });

  test('what happened is counted before its rows are deleted', async () => {
    const longAgo = new Date(Date.now() - 20 * 60 * minute);
    await begin(new Date(longAgo.getTime() - 24 * 60 * minute));
    await add.booked(longAgo);
    await add.code_sent(longAgo);
    await sql`UPDATE events SET position = 1`.execute(db);
    await deleteOldData(db, { event_days: 0, confirmation_days: 0, audit_days: 1 });
    const { rows } = await sql`SELECT FROM events UNION ALL SELECT FROM messages`.execute(db);
    expect(rows).toEqual([]);
    expect(await totals()).toEqual({ ...none, booked: 1, code_sent: 1 });
  });

  test('rows of the history are deleted after 31 days, a limited number at a time', async () => {
    await sql`TRUNCATE history_counts, ehr_history`.execute(db);
    await sql`
      INSERT INTO history_counts SELECT now() - day * interval '1 day', 'booked', 1 FROM generate_series(28, 34) AS day`.execute(
      db,
    );
    await sql`
      INSERT INTO ehr_history SELECT now() - day * interval '1 day', 'ehr', gen_random_uuid(), 1, 1, 0, 0, 0, '{}'
      FROM generate_series(28, 34) AS day`.execute(db);
    const kept = async () => {
      const { rows } = await sql<{ counts: number[] }>`
        SELECT ARRAY[(SELECT count(*) FROM history_counts), (SELECT count(*) FROM ehr_history)]::integer[] AS counts`.execute(
        db,
      );
      return rows[0]?.counts;
    };
    await deleteOldHistory(db, 2);
    expect(await kept()).toEqual([5, 5]);
    await deleteOldHistory(db, 1000);
    expect(await kept()).toEqual([3, 3]);
  });

  // PGlite has one connection.
  test.runIf(database.kind === 'postgresql')('an event whose commit hangs for half an hour is counted', async () => {
    const halfAnHourAgo = new Date(Date.now() - 30 * minute);
    await begin(new Date(Date.now() - 24 * 60 * minute));
    const client = await database.pool.connect();
    try {
      await client.query('BEGIN');
      await client.query(
        `INSERT INTO events (type, emr, data, occurred_at) VALUES ('appointment.booked', 'ehr', '{}', $1)`,
        [halfAnHourAgo],
      );
      while (await rollUp(db));
      expect(await totals()).toEqual(none);
      await client.query('COMMIT');
    } finally {
      client.release();
    }
    while (await rollUp(db));
    expect(await totals()).toEqual({ ...none, booked: 1 });
  });
});
