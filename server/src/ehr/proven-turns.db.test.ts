import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { EhrRequest } from '@crossward/connector-kit';
import { type KyselyPlugin, sql } from 'kysely';
import { afterAll, beforeEach, expect, test, vi } from 'vitest';
import { createTestDatabase } from '../../../test/database/database.ts';
import { createDb } from '../db/kysely.ts';
import { exclusiveTurns } from './exclusive-turns.ts';
import { withinCallTime } from './guard/call-scope.ts';
import { createEhrHttp } from './guard/ehr-http.ts';
import { heldTurns } from './guard/held-turns.ts';

const { database, dispose } = await createTestDatabase();
let whenAnswered = async (): Promise<void> => undefined;
/** Runs after each statement of the first gateway. */
const watching: KyselyPlugin = {
  transformQuery: ({ node }) => node,
  async transformResult({ result }) {
    await whenAnswered();
    return result;
  },
};
const db = createDb(database);
const times = { waitMs: 60_000, requestMs: 10_000 };
const one = exclusiveTurns(db.withPlugin(watching), 'north', times);
const other = exclusiveTurns(db, 'north', times);

const seen: string[] = [];
const server = createServer((request, response) => {
  if (request.url === '/silent') return void response.destroy();
  seen.push(request.method ?? '');
  response.end('done');
});
await once(server.listen(0, '127.0.0.1'), 'listening');
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
const http = createEhrHttp({
  ...{ connectTimeoutMs: 20_000, requestTimeoutMs: 10_000, connections: 5, retries: 0, maxResponseBytes: 1024 },
  ...{ allowPrivateAddresses: true, allowPlainText: false },
});
beforeEach(() => {
  seen.length = 0;
  whenAnswered = async () => undefined;
  vi.restoreAllMocks();
});
afterAll(async () => {
  await http.close();
  server.close();
  await dispose();
});

const write: EhrRequest = { method: 'POST', url: `${url}/bookings`, body: 'one', repeatable: false };
const read: EhrRequest = { method: 'GET', url: `${url}/bookings`, repeatable: true };
const lost = { kind: 'unavailable', fault: false, nothingChanged: false };

/** The lease has ended. */
async function timePasses(key: string): Promise<void> {
  await sql`UPDATE ehr_exclusive_turns SET ends_at = clock_timestamp() - interval '1 s' WHERE key = ${key}`.execute(db);
}

test('a holder that was away while another one had the turn sends no write', async () => {
  await one('r-1', async () => {
    await http.send(write);
    await timePasses('r-1');
    // Another gateway.
    await heldTurns.exit(() => other('r-1', () => http.send(write)));
    expect(seen).toEqual(['POST', 'POST']);
    await expect(http.send(write)).rejects.toMatchObject(lost);
    await expect(http.send({ ...write, method: 'PUT', repeatable: true })).rejects.toMatchObject(lost);
    await http.send(read);
    await http.send({ ...write, writes: false });
  });
  expect(seen).toEqual(['POST', 'POST', 'GET', 'POST']);
});

test('a holder that was away while nobody wanted its turn goes on', async () => {
  await one('r-2', async () => {
    await timePasses('r-2');
    expect(await http.send(write)).toMatchObject({ status: 200 });
  });
  expect(seen).toEqual(['POST']);
});

test.each([
  ['and another one had its turn, sends nothing', true],
  ['and has its turn still, sends it once', false],
] as const)('a holder that stands still between the proof and the first byte, %s', async (_, isTaken) => {
  let ahead = 0;
  const now = Date.now;
  vi.spyOn(Date, 'now').mockImplementation(() => now() + ahead);
  const turn = one('r-3', async () => {
    whenAnswered = async () => {
      whenAnswered = async () => undefined;
      ahead = 60_000;
      await timePasses('r-3');
      if (isTaken) await other('r-3', async () => undefined);
    };
    return http.send(write);
  });
  if (isTaken) await expect(turn).rejects.toMatchObject(lost);
  else expect(await turn).toMatchObject({ status: 200 });
  expect(seen).toEqual(isTaken ? [] : ['POST']);
});

test('of nested turns each must be there', async () => {
  const nested = one('r-4', () =>
    one('r-5', async () => {
      await timePasses('r-4');
      await other('r-4', async () => undefined);
      await http.send(write);
    }),
  );
  await expect(nested).rejects.toMatchObject(lost);
  expect(seen).toEqual([]);
});

test('work that goes on after its turn writes nothing more', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const late = await one('r-6', async () => ({ answer: promise.then(() => http.send(write)) }));
  resolve();
  await expect(late.answer).rejects.toMatchObject(lost);
  await http.send(write);
  expect(seen).toEqual(['POST']);
});

test('after a write with an unknown outcome nobody has the turn until it ends by itself', async () => {
  const impatient = exclusiveTurns(db, 'north', { ...times, waitMs: 0 });
  const call = () =>
    withinCallTime(
      60_000,
      () => one('r-7', () => http.send({ ...write, url: `${url}/silent` })),
      () => new Error('late'),
    );
  await expect(call()).rejects.toMatchObject({ kind: 'outcome_unknown' });
  await expect(impatient('r-7', async () => 'early')).rejects.toMatchObject({ kind: 'unavailable' });
  await timePasses('r-7');
  expect(await impatient('r-7', async () => 'next')).toBe('next');
});
