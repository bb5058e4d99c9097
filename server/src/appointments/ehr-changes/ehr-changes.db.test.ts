/** @module-tag any-database */
import type { Appointment } from '@crossward/connector-kit';
import { sql } from 'kysely';
import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../../test/database/database.ts';
import { observeStatements } from '../../../../test/database/statements.ts';
import { eventually } from '../../../../test/requests/codes.ts';
import { createDb, type Db } from '../../db/kysely.ts';
import type { EhrConnection } from '../../ehr/connection.ts';
import { writeEvents } from '../../events/write-events.ts';
import type { WriteServices } from '../../writes/write-kind.ts';
import { readAgain } from './read-again.ts';
import { readChanges } from './read-changes.ts';
import { reportChanges } from './report-changes.ts';
import { storeChanges } from './store-changes.ts';

let testDatabase: TestDatabase;
let db: Db;
beforeAll(async () => {
  testDatabase = await createTestDatabase('postgresql');
  db = createDb(testDatabase.database);
});
afterAll(() => testDatabase.dispose());
beforeEach(async () => {
  await sql`TRUNCATE ehr_changes, events CASCADE`.execute(db);
});

const careUnit = { id: 'ward', timeZone: 'Europe/Oslo' };

function connection(more: Partial<EhrConnection>): EhrConnection {
  const times = { callSeconds: 1, settlingSeconds: 1, giveUpSeconds: 1 };
  return { id: 'ehr', isOpen: true, times, careUnits: new Map([['ward', careUnit]]), ...more } as EhrConnection;
}

/** The appointment, from 8 to 9 or at another hour. */
function appointmentAt(hour: number, state: Appointment['state'] = 'booked'): Appointment {
  const [start, end] = [new Date(Date.UTC(2030, 0, 1, hour)), new Date(Date.UTC(2030, 0, 1, hour + 1))];
  const ids = {
    id: 'a-1',
    careUnitId: 'ward',
    patientId: 'p-1',
    resourceId: 'r-1',
    healthcareServiceId: 'consultation',
  };
  return { ...ids, start, end, state, heldUntil: null, comment: null };
}

const store = (appointment: Appointment) =>
  db
    .transaction()
    .execute((tx) => storeChanges(tx, 'ehr', [{ id: appointment.id, views: [appointment], isNew: false }], new Date()));
const stored = async () =>
  (await db.selectFrom('ehr_changes').select(['views', 'is_stale']).execute()).map(({ views, is_stale }) => {
    return { starts: views.map(({ start }) => new Date(start)), is_stale };
  });

test('a change that is stored while the appointment is read again is not overwritten', async () => {
  const isStale = () => db.updateTable('ehr_changes').set({ is_stale: true }).execute();
  await store(appointmentAt(8));
  await isStale();
  const response = Promise.withResolvers<readonly Appointment[]>();
  const asked = Promise.withResolvers<void>();
  const call = (() => {
    asked.resolve();
    return response.promise;
  }) as EhrConnection['call'];
  const reading = readAgain(db, connection({ call }));
  await asked.promise;
  await store(appointmentAt(10));
  response.resolve([appointmentAt(8)]);
  await reading;
  expect(await stored()).toEqual([{ starts: [appointmentAt(10).start], is_stale: false }]);

  await isStale();
  await readAgain(db, connection({ call: (async () => [appointmentAt(12)]) as unknown as EhrConnection['call'] }));
  expect(await stored()).toEqual([{ starts: [appointmentAt(12).start], is_stale: false }]);
  await isStale();
  await readAgain(db, connection({ call: (async () => []) as unknown as EhrConnection['call'] }));
  expect(await stored()).toEqual([{ starts: [], is_stale: false }]);
});

test('an operation that ends while the events are compared makes the change be read again', async () => {
  const data = { appointment_id: 'a-1', cancellation_id: null, resource_id: 'emr_id:r-1', healthcare_service_id: null };
  const times = { start: '2030-01-01T08:00:00Z', end: '2030-01-01T09:00:00Z' };
  const eventOf = (type: 'appointment.booked' | 'appointment.cancelled', status: 'booked' | 'cancelled') => {
    return { type, emr: 'ehr', careUnitId: 'ward', subject: 'a-1', data: { ...data, ...times, status } };
  };
  await writeEvents(db, [eventOf('appointment.booked', 'booked')]);
  await sql`UPDATE events SET occurred_at = occurred_at - interval '1 minute'`.execute(db);
  await store(appointmentAt(10));
  const other = createDb(testDatabase.database);
  let reporting: Promise<unknown> | undefined;
  await other.transaction().execute(async (tx) => {
    // Events can be read, but not written.
    await sql`LOCK TABLE events IN SHARE MODE`.execute(tx);
    const call = (async () => [appointmentAt(10, 'cancelled')]) as unknown as EhrConnection['call'];
    reporting = reportChanges({ db } as WriteServices, connection({ call }));
    await eventually(async () => {
      const { rows } = await sql`SELECT 1 FROM pg_locks WHERE relation = 'events'::regclass AND NOT granted`.execute(
        tx,
      );
      expect(rows).toHaveLength(1);
    });
    await writeEvents(tx, [eventOf('appointment.cancelled', 'cancelled')]);
  });
  await reporting;
  await reportChanges({ db } as WriteServices, connection({}));
  const events = await db.selectFrom('events').select('type').orderBy('sequence').execute();
  expect(events.map(({ type }) => type)).toEqual(['appointment.booked', 'appointment.cancelled']);
  expect(await stored()).toEqual([]);
});

test('an EHR whose connector was replaced is read from now on, not from the position of the other connector', async () => {
  const asked: unknown[] = [];
  const read = async (connector: string) => {
    const call = (async (_: string, { after }: { after?: string }) => {
      asked.push(after);
      return { changes: [], next: `${connector} ${asked.length}`, hasMore: true };
    }) as unknown as EhrConnection['call'];
    const ehr = connection({ id: 'replaced', connector, changesSeconds: 1, offers: () => true, call });
    await readChanges({ db } as WriteServices, ehr, pino({ level: 'silent' }));
  };
  for (const connector of ['first', 'first', 'second', 'second']) await read(connector);
  expect(asked).toEqual([undefined, 'first 1', undefined, 'second 3']);
});

test('an EHR without changes costs three statements a reading, outside of transactions', async () => {
  const call = (async () => ({ changes: [], next: 'next', hasMore: false })) as unknown as EhrConnection['call'];
  const ehr = connection({ id: 'idle', connector: 'first', changesSeconds: 0.001, offers: () => true, call });
  const services = { db } as WriteServices;
  const round = async () => {
    await readChanges(services, ehr, pino({ level: 'silent' }));
    await reportChanges(services, ehr);
  };
  await round();
  await db
    .updateTable('ehr_change_feeds')
    .set({ next_read_at: new Date(0) })
    .where('emr', '=', 'idle')
    .execute();
  const statements = await observeStatements(testDatabase.database.pool, round);
  expect(statements.map(({ text }) => /^\s*(\w+)/.exec(text)?.[1])).toEqual(['UPDATE', 'UPDATE', 'SELECT']);
});

test('a reading that the events say already is not stored, and replaces an earlier one', async () => {
  const { start, end } = appointmentAt(8);
  const data = {
    appointment_id: 'a-1',
    cancellation_id: null,
    status: 'booked' as const,
    start: start.toISOString(),
    end: end?.toISOString() ?? null,
    resource_id: 'emr_id:r-1',
    healthcare_service_id: 'consultation',
  };
  await writeEvents(db, [{ type: 'appointment.booked', emr: 'ehr', careUnitId: 'ward', subject: 'a-1', data }]);
  const read = async (appointment: Appointment) => {
    await db
      .updateTable('ehr_change_feeds')
      .set({ next_read_at: new Date(0) })
      .execute();
    const changes = { changes: [{ appointment, changedAt: new Date() }], next: 'next', hasMore: false };
    const call = (async () => changes) as unknown as EhrConnection['call'];
    const ehr = connection({ connector: 'first', changesSeconds: 1, offers: () => true, call });
    await readChanges({ db } as WriteServices, ehr, pino({ level: 'silent' }));
    return (await stored()).map(({ starts }) => starts);
  };
  expect(await read(appointmentAt(9))).toEqual([[appointmentAt(9).start]]);
  expect(await read(appointmentAt(8))).toEqual([]);
  expect(await read(appointmentAt(8, 'cancelled'))).toEqual([[start]]);
});
