import { sql } from 'kysely';
import { afterAll, expect, test } from 'vitest';
import { type Problem, startGateway } from '../../../test/gateway/gateway.ts';
import { creationBody, freeSlot, oslo } from '../../../test/requests/bookings.ts';
import { browserWith, withConsole } from '../../../test/requests/console.ts';
import { createDb } from './kysely.ts';

const gateway = await startGateway({ configure: withConsole });
afterAll(() => gateway.close());
const db = createDb(gateway.database);

/** Lets each row that is added to the table fail as on a full disk. Returns what ends it. */
async function fillDisk(table: string): Promise<() => Promise<void>> {
  await sql`CREATE OR REPLACE FUNCTION disk_full() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = '53100'; END $$`.execute(db);
  await sql`CREATE TRIGGER disk_full BEFORE INSERT ON ${sql.table(table)}
    FOR EACH ROW EXECUTE FUNCTION disk_full()`.execute(db);
  return async () => void (await sql`DROP TRIGGER disk_full ON ${sql.table(table)}`.execute(db));
}

test('a full disk is told by the log, readiness, the metric and the console, and the sandbox stays available', async () => {
  const { browser } = await browserWith(gateway, 'kari', 'view');
  const slot = await freeSlot(gateway);
  const book = () => gateway.request<Problem>('POST', `${oslo}/appointments`, { body: creationBody(slot) });
  const ready = async () => (await gateway.request('GET', '/health/ready', { client: null })).body;
  expect(await ready()).toMatchObject({ database_trouble: null, not_written: [] });

  const empty = await fillDisk('operations');
  expect(await book()).toMatchObject({ status: 503, body: { reason: 'database_unavailable' } });
  await book();
  await empty();
  expect(await ready()).toMatchObject({
    status: 'ok',
    database_trouble: 'disk_full',
    not_written: expect.arrayContaining(['bookings and other writes', 'audit trail']),
  });
  const lines = gateway.logLines.filter((line) => line.includes('"msg":"the database fails"'));
  expect(lines).toEqual([expect.stringContaining('"trouble":"disk_full"')]);
  const { text } = await gateway.request('GET', '/metrics', { client: null });
  expect(text).toContain('crossward_database_trouble{trouble="disk_full"} 1');
  expect((await browser.open('/console')).text).toContain('The disk of the database is full');

  // The appointments of the sandbox are in the same database.
  const emptyAgain = await fillDisk('sandbox.appointments');
  const failed = await book();
  await emptyAgain();
  expect(failed).toMatchObject({ status: 503, body: { reason: 'database_unavailable', origin: 'gateway' } });
  const { body } = await gateway.request('GET', '/api/emrs/sandbox-no');
  expect(body).toMatchObject({ status: 'available', breaker: 'closed' });
  const metrics = (await gateway.request('GET', '/metrics', { client: null })).text;
  expect(metrics).toMatch(
    /crossward_ehr_calls_total\{emr="sandbox-no",operation="changeAppointments",outcome="database"\} 1/,
  );
});
