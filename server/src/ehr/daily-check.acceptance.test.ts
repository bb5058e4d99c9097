/** @module-tag any-database */
import {
  type ConnectorContext,
  ConnectorError,
  type ConnectorModule,
  type ServerDescription,
} from '@crossward/connector-kit';
import { sql } from 'kysely';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { wrapConnector } from '../../../test/ehrs/other-ehrs.ts';
import { startGateway } from '../../../test/gateway/gateway.ts';
import { browserWith, withConsole } from '../../../test/requests/console.ts';

type Says = () => Promise<ServerDescription>;
const first: Says = async () => ({ software: ['Clinic', '1.0'], Slot: ['search-type', 'start'] });
const later: Says = async () => ({ software: ['Clinic', '2.0'], Slot: ['search-type'] });
const away: Says = async () => {
  throw new ConnectorError('unavailable', 'The EHR does not answer');
};
/** What the EHR says of itself. */
let says = first;
let asked = 0;

const often = { checks: 20 };
const connectors: readonly ConnectorModule[] = [
  {
    ...wrapConnector((connector) => connector),
    async describe({ emr }: ConnectorContext<unknown>) {
      if (emr !== 'sandbox-no') return {};
      asked++;
      return says();
    },
  },
];
const gateway = await startGateway({ connectors, configure: withConsole, intervals: often });
// Each is told by one of several gateways.
const other = await startGateway({ connectors, configure: withConsole, intervals: often, beside: gateway });
afterAll(async () => {
  await other.close();
  await gateway.close();
});
const { db } = gateway.deps.services;

async function changes(): Promise<readonly unknown[]> {
  const events = db
    .selectFrom('events')
    .select('data')
    .where('type', '=', 'emr.changed')
    .where('emr', '=', 'sandbox-no');
  return (await events.execute()).map(({ data }) => data);
}

/** Minutes until the next check. `undefined`: the EHR has not been noticed yet. */
async function minutesLeft(): Promise<number | undefined> {
  const { rows } = await sql<{ minutes: number }>`
    SELECT round(extract(epoch FROM due_at - now()) / 60)::int AS minutes
    FROM ehr_checks WHERE emr = 'sandbox-no'`.execute(db);
  return rows[0]?.minutes;
}

/** Lets the EHR be checked now, and waits until it is due again in so many minutes. */
async function checkedUntilDueIn(minutes: number): Promise<void> {
  await expect.poll(minutesLeft).toBeDefined();
  const before = asked;
  await sql`UPDATE ehr_checks SET due_at = now() - interval '1 second' WHERE emr = 'sandbox-no'`.execute(db);
  await expect.poll(minutesLeft).toBe(minutes);
  // By one of the gateways.
  expect(asked - before).toBe(1);
}

const day = 24 * 60;
const soon = 15;

beforeEach(async () => {
  says = first;
  await sql`DELETE FROM events`.execute(db);
  await sql`DELETE FROM ehr_checks`.execute(db);
});

test('an EHR is checked for the first time within a day, and not when it is added', async () => {
  await expect.poll(async () => (await sql`SELECT FROM ehr_checks`.execute(db)).rows.length).toBe(3);
  const { rows } = await sql<{ seen: unknown; within: boolean }>`
    SELECT seen, due_at < now() + interval '1 day' AS within FROM ehr_checks`.execute(db);
  expect(rows).toEqual(Array(3).fill({ seen: null, within: true }));
});

test('an EHR that offers something else in two checks has an event, and needs attention until somebody notes it', async () => {
  await checkedUntilDueIn(day);
  says = later;
  await checkedUntilDueIn(soon);
  expect(await changes()).toEqual([]);
  await checkedUntilDueIn(day);
  expect(await changes()).toEqual([{ status: 'available', changed: ['Slot', 'software'] }]);
  await checkedUntilDueIn(day);
  expect(await changes()).toHaveLength(1);

  const { browser } = await browserWith(gateway, 'operator', 'operate');
  const line = /The EHR offers something else than before: Slot −start; software −1.0 \+2.0, since/;
  expect((await browser.open('/console')).text).toMatch(line);
  const { browser: viewer } = await browserWith(gateway, 'viewer', 'view');
  expect((await viewer.open('/console')).text).not.toContain('Noted');
  await browser.submit('/console/connections/sandbox-no/note-changes', {});
  expect((await browser.open('/console')).text).not.toMatch(line);
  expect((await browser.open('/console/activity')).text).toContain('emr changes note sandbox-no done');
});

test('a failure of a moment, and an EHR that is away, are no change', async () => {
  await checkedUntilDueIn(day);
  says = later;
  await checkedUntilDueIn(soon);
  says = first;
  await checkedUntilDueIn(day);
  says = away;
  const before = asked;
  await checkedUntilDueIn(60);
  await expect.poll(() => asked).toBeGreaterThan(before);
  await checkedUntilDueIn(60);
  says = first;
  await checkedUntilDueIn(day);
  expect(await changes()).toEqual([]);
});

test('what has changed and has come back needs no attention', async () => {
  await checkedUntilDueIn(day);
  for (const now of [later, first]) {
    says = now;
    await checkedUntilDueIn(soon);
    await checkedUntilDueIn(day);
  }
  expect(await changes()).toHaveLength(2);
  const { browser } = await browserWith(gateway, 'second-viewer', 'view');
  expect((await browser.open('/console')).text).not.toContain('offers something else');
});

test('what changes with the configuration of the EHR is not told', async () => {
  await checkedUntilDueIn(day);
  await sql`UPDATE ehr_checks SET configured = '\\x00'`.execute(db);
  says = later;
  await checkedUntilDueIn(day);
  expect(await changes()).toEqual([]);
});
