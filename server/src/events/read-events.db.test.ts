import { sql } from 'kysely';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../test/database/database.ts';
import { createDb, type Db } from '../db/kysely.ts';
import { recordAvailability } from './availability-events.ts';
import { publishEvents } from './publish-events.ts';
import { readEvents } from './read-events.ts';
import { deleteOldEvents } from './retention.ts';
import { writeEvents } from './write-events.ts';

let testDatabase: TestDatabase;
let db: Db;
beforeEach(async () => {
  testDatabase = await createTestDatabase();
  db = createDb(testDatabase.database);
});
afterEach(() => testDatabase.dispose());

const write = (count = 1) =>
  writeEvents(
    db,
    Array.from({ length: count }, () => {
      const data = {
        message_id: 'm',
        confirmation_id: 'c',
        appointment_id: 'a',
        channel: 'sms',
        reason: 'test',
      } as const;
      return { type: 'message.failed', emr: 'ehr', careUnitId: 'ward', subject: null, data };
    }),
  );
const publish = () => publishEvents(db, sql`others AS (SELECT)`);
const read = (after?: number) =>
  readEvents(db, { id: 'app', grants: new Map([['ehr', new Set(['ward'])]]) }, after, 100);

/** Deletes the events that are stored now. */
async function deleteAll(): Promise<void> {
  await db
    .updateTable('events')
    .set({ occurred_at: new Date(0) })
    .execute();
  await deleteOldEvents(db, 30, 100);
}

test('a publication that is rolled back leaves no gap, which a reader would take for deleted events', async () => {
  await write();
  await publish();
  const { reached } = await read();
  await write();
  const failed = publishEvents(db, sql`others AS (INSERT INTO event_positions (name) VALUES ('no such name'))`);
  await expect(failed).rejects.toThrow('event_positions_name_check');
  await deleteAll();
  await publish();
  expect(await read(reached)).toMatchObject({ isTooOld: false, events: [{ position: reached + 1 }] });
});

test('a position after the newest event, as after the restore of a backup, is not known', async () => {
  await write(3);
  await publish();
  const { reached } = await read();
  expect(await read(reached)).toMatchObject({ isTooNew: false });
  expect(await read(reached + 1)).toMatchObject({ isTooNew: true });
});

test('positions of deleted events are not used again', async () => {
  await write(3);
  await publish();
  const { reached } = await read();
  await deleteAll();
  expect(await read(reached)).toMatchObject({ isTooOld: false, events: [], hasMore: false });
  expect(await read(reached - 1)).toMatchObject({ isTooOld: true });
  await write();
  await publish();
  expect(await read(reached)).toMatchObject({ isTooOld: false, events: [{ position: reached + 1 }] });
  expect(await read()).toMatchObject({ isTooOld: false, events: [{ position: reached + 1 }] });
});

test('an EHR gets its event of recovery, however long it was unavailable', async () => {
  for (const emr of ['ehr', 'other']) {
    await recordAvailability(db, emr, 'failing');
    await publish();
    await deleteAll();
    await recordAvailability(db, emr, 'available');
    await publish();
  }
  const { reached } = await read();
  await deleteAll();
  const events = await db.selectFrom('events').select(['emr', 'type']).orderBy('sequence').execute();
  expect(events).toEqual(['ehr', 'other'].map((emr) => ({ emr, type: 'emr.recovered' })));
  expect(await read(reached - 2)).toMatchObject({ isTooOld: true });
});
