import { randomBytes, randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../../test/database/database.ts';
import { createDb, type Db } from '../../db/kysely.ts';
import { createKeyRing } from '../../secrets/key-ring.ts';
import type { Work } from '../../writes/write-kind.ts';
import { eraseKept } from '../known-appointments.ts';
import { appointmentsNamed, deleteOldIdentifiers, identifiersOf, keepIdentifiers } from './store.ts';

const [older, newer] = [randomBytes(32), randomBytes(32)];
const keys = createKeyRing([older]);
const identifier = { system: 'urn:oid:2.999.7', value: 'order-1' };

let it: TestDatabase;
let db: Db;
beforeEach(async () => {
  it = await createTestDatabase();
  db = createDb(it.database);
});
afterEach(() => it.dispose());

function keep(id: string): Promise<void> {
  const work = { services: { keys }, clientId: 'portal', ehr: { id: 'emr' }, careUnit: { id: 'unit' } };
  return db.transaction().execute((tx) => keepIdentifiers(tx, work as unknown as Work, id, [identifier]));
}
const named = async () => (await appointmentsNamed({ db, keys }, 'portal', [identifier])).map(({ id }) => id);

async function event(subject: string): Promise<string> {
  const id = randomUUID();
  await sql`
    INSERT INTO events (id, type, emr, care_unit_id, subject, data) VALUES (${id}, 'appointment.booked', 'emr', 'unit', ${subject}, '{}')`.execute(
    db,
  );
  return id;
}

test('are found and shown under a key that was replaced', async () => {
  await keep('a-1');
  await keep('a-1');
  const rotated = { db, keys: createKeyRing([newer, older]) };
  expect(await appointmentsNamed(rotated, 'portal', [identifier])).toEqual([
    { emr: 'emr', careUnitId: 'unit', id: 'a-1' },
  ]);
  expect(await identifiersOf(rotated, 'portal', 'emr', ['a-1'])).toEqual(new Map([['a-1', [identifier]]]));
  expect(await identifiersOf({ db, keys: createKeyRing([newer]) }, 'portal', 'emr', ['a-1'])).toEqual(new Map());
  expect(await appointmentsNamed(rotated, 'another', [identifier])).toEqual([]);
});

test('are deleted once no event of the appointment is kept', async () => {
  for (const id of ['with-event', 'old', 'new']) await keep(id);
  await event('with-event');
  await sql`UPDATE appointment_identifiers SET created_at = now() - interval '31 days' WHERE appointment_id <> 'new'`.execute(
    db,
  );
  await deleteOldIdentifiers(db, 30, 10);
  expect(await named()).toEqual(['new', 'with-event']);
  await sql`DELETE FROM events`.execute(db);
  await deleteOldIdentifiers(db, 30, 10);
  expect(await named()).toEqual(['new']);
});

test('are erased with what events keep of a patient', async () => {
  for (const id of ['erased', 'stays']) await keep(id);
  const events = [await event('erased')];
  await event('stays');
  await db.transaction().execute((tx) => eraseKept(tx, events));
  expect(await named()).toEqual(['stays']);
});
