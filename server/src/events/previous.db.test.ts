import fc from 'fast-check';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../test/database/database.ts';
import { createDb, type Db } from '../db/kysely.ts';
import type { AppointmentEventData, NewEvent } from './new-event.ts';
import { publishEvents } from './publish-events.ts';
import { readEvents } from './read-events.ts';
import { eventsText, withEvents } from './write-events.ts';

/* Requests that change an appointment at the same time have read the same appointment before. */

let testDatabase: TestDatabase;
let db: Db;
beforeAll(async () => {
  testDatabase = await createTestDatabase();
  db = createDb(testDatabase.database);
});
afterAll(() => testDatabase.dispose());

interface Place {
  readonly start: string;
  readonly end: string;
  readonly resource_id: string;
}
/** At the given hour. */
const at = (hour: number, resource = 'r-1'): Place => ({
  start: `2030-03-15T${hour}:00:00+01:00`,
  end: `2030-03-15T${hour}:30:00+01:00`,
  resource_id: `emr_id:${resource}`,
});

interface Written {
  readonly to: Place;
  /** What the request had read. Absent: it booked. */
  readonly from?: Place;
  readonly changed?: AppointmentEventData['changed'];
  readonly isObserved?: boolean;
  /** How many seconds before the event its write began. */
  readonly secondsBefore?: number;
}

async function write(subject: string, { to, from, isObserved = false, secondsBefore = 0, ...facts }: Written) {
  const changed = facts.changed ?? (from ? (['start', 'end'] as const) : undefined);
  const event: NewEvent = {
    type: from ? 'appointment.updated' : 'appointment.booked',
    emr: 'ehr',
    careUnitId: 'ward',
    subject,
    isObserved,
    data: {
      appointment_id: subject,
      cancellation_id: null,
      status: 'booked',
      healthcare_service_id: 'consultation',
      ...to,
      ...(from && changed ? { changed, previous: from } : {}),
    },
  };
  const began = sql<{ id: string; began_at: Date }>`
    SELECT '' AS id, clock_timestamp() - make_interval(secs => ${secondsBefore}) AS began_at`;
  await withEvents(began, eventsText([{ id: '', events: [event] }])).execute(db);
}

const publish = () => publishEvents(db, sql`others AS (SELECT)`);

/** The published events of an appointment. */
async function published(subject: string): Promise<readonly AppointmentEventData[]> {
  const { events } = await readEvents(
    db,
    { id: 'app', grants: new Map([['ehr', new Set(['ward'])]]) },
    undefined,
    1000,
  );
  return events
    .map(({ data }) => data as unknown as AppointmentEventData)
    .filter((it) => it.appointment_id === subject);
}

const placeOf = ({ start, end, resource_id }: AppointmentEventData) => ({ start, end, resource_id });

test('each of any moves at once says what the one before it has made, in whatever groups they are published', async () => {
  let count = 0;
  const moves = fc.array(
    fc.record({ hour: fc.integer({ min: 10, max: 13 }), read: fc.nat(), isPublished: fc.boolean() }),
    {
      minLength: 1,
      maxLength: 8,
    },
  );
  await fc.assert(
    fc.asyncProperty(moves, async (planned) => {
      const subject = `many ${count++}`;
      const places = [at(9)];
      await write(subject, { to: at(9) });
      for (const { hour, read, isPublished } of planned) {
        // It has read one of the places where the appointment has been.
        await write(subject, { to: at(hour), from: places[read % places.length] ?? at(9) });
        places.push(at(hour));
        if (isPublished) await publish();
      }
      await publish();
      const [first, ...updates] = await published(subject);
      let before = first;
      for (const update of updates) {
        expect(update.previous).toEqual(before && placeOf(before));
        const isMoved = update.start !== update.previous?.start;
        if (isMoved) expect(update.changed).toEqual(['start', 'end']);
        before = update;
      }
      expect([first, ...updates].map((it) => it && placeOf(it))).toEqual(places);
    }),
    { numRuns: 40 },
  );
});

test('fields that another request has changed are not named, and the comment is', async () => {
  await write('a', { to: at(9) });
  await write('a', { to: at(10), from: at(9) });
  await write('a', { to: at(10, 'r-2'), from: at(9), changed: ['start', 'end', 'resource_id', 'comment'] });
  await write('a', { to: at(10, 'r-2'), from: at(9), changed: ['comment'] });
  await write('a', { to: at(10, 'r-2'), from: at(9), changed: ['start', 'end', 'resource_id'] });
  await publish();
  expect((await published('a')).slice(1)).toMatchObject([
    { changed: ['start', 'end'], previous: at(9) },
    { changed: ['resource_id', 'comment'], previous: at(10) },
    { changed: ['comment'], previous: at(10, 'r-2') },
    // The same move as another request.
    { changed: [], previous: at(10, 'r-2') },
  ]);
});

test('what staff have made of it in between stays, and what a later request has read', async () => {
  await write('b', { to: at(9) });
  await write('b', { to: at(10), from: at(9) });
  // Staff have moved it to 11, of which no event says anything yet.
  await write('b', { to: at(12), from: at(11) });
  await publish();
  expect((await published('b')).slice(1)).toMatchObject([{ previous: at(9) }, { previous: at(11) }]);

  await write('c', { to: at(9) });
  await write('c', { to: at(10), from: at(9) });
  await sql`UPDATE events SET occurred_at = occurred_at - interval '2 minutes' WHERE subject = 'c'`.execute(db);
  // Staff have moved it back to 9.
  await write('c', { to: at(12), from: at(9) });
  await publish();
  expect((await published('c')).slice(1)).toMatchObject([{ previous: at(9) }, { previous: at(9) }]);
});

test('an operation that was interrupted long ago says what others have made meanwhile', async () => {
  await write('d', { to: at(9) });
  await write('d', { to: at(10), from: at(9) });
  await sql`UPDATE events SET occurred_at = occurred_at - interval '1 hour' WHERE subject = 'd'`.execute(db);
  await write('d', { to: at(11), from: at(9), secondsBefore: 7200 });
  await publish();
  expect((await published('d')).slice(1)).toMatchObject([{ previous: at(9) }, { previous: at(10) }]);
});

test('what was seen in the EHR was compared with the events already', async () => {
  await write('e', { to: at(9) });
  await write('e', { to: at(10), from: at(9), isObserved: true });
  await write('e', { to: at(11), from: at(9), isObserved: true });
  await publish();
  expect((await published('e')).slice(1)).toMatchObject([{ previous: at(9) }, { previous: at(9) }]);
});
