import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, inject, onTestFinished, test, vi } from 'vitest';
import { facilities, people, resources } from '../../connectors/care/fake/data.ts';
import { password, startFake } from '../../connectors/care/fake/server.ts';
import { timeZone } from '../../connectors/care/test/subject.ts';
import { createTestDatabase } from '../database/database.ts';
import { startPostgresProxy } from '../postgres-proxy/postgres-proxy.ts';
import { type ChildGateway, isStopped, startChild } from '../processes/child-gateway.ts';
import { writeQuickDemo } from '../processes/quick-demo.ts';

/*
 * CARE itself books one place twice, so what keeps two gateways apart are their turns. Here one of them loses its turn, and the
 * other one books.
 */

const unit = '/api/emrs/care/care-units/north';
/** A turn ends seven seconds after its holder has frozen. A call lasts longer. */
const connection = {
  ...{
    request_timeout_ms: 2_000,
    timeout_ms: 120_000,
    queue_timeout_ms: 60_000,
    settling_seconds: 2,
    changes_seconds: 1,
  },
  allow_private_addresses: true,
};

interface Slot {
  readonly start: string;
  readonly end: string;
}
interface Answer {
  readonly status: number;
  readonly reason: string | undefined;
}

/** Two gateways. The first has a proxy before the database, and freezes after a statement. */
async function twoGateways(freezeAt?: string, times: Partial<typeof connection> = {}) {
  const folder = await mkdtemp(join(inject('runFolder'), 'turns-'));
  const [fake, { url = '', dispose }] = await Promise.all([
    startFake({ signIns: 1_000 }),
    createTestDatabase('postgresql'),
  ]);
  const proxy = await startPostgresProxy(url);
  const children: ChildGateway[] = [];
  onTestFinished(async () => {
    await Promise.all(children.map((child) => child.kill()));
    await proxy.close();
    await fake.close();
    await dispose();
    await rm(folder, { recursive: true, force: true });
  });
  const care = {
    ...{ id: 'care', name: 'CARE', connector: 'care', synthetic_identifiers: true, policies: {} },
    settings: { base_url: fake.url, username: 'gateway', password: { env: 'CARE_PASSWORD' } },
    care_units: [
      { id: 'north', name: 'North', time_zone: timeZone, language: 'en', settings: { facility: facilities.north } },
    ],
  };
  const setup = await writeQuickDemo(folder, {}, () => [care], { ...connection, ...times });
  const start = async (databaseUrl: string, frozen = false) => {
    const dataDir = await mkdtemp(join(folder, 'gateway-'));
    const preload = { preload: 'freeze-at' } as const;
    const variables = { CARE_PASSWORD: password, FREEZE_AT: freezeAt ?? '' };
    const child = await startChild({ dataDir, databaseUrl, setup, variables, ...(frozen ? preload : {}) });
    children.push(child);
    return child;
  };
  const [one, other] = await Promise.all([start(proxy.url, freezeAt !== undefined), start(url)]);
  const [from, to] = [1, 3].map((days) => new Date(Date.now() + days * 86_400_000).toISOString()) as [string, string];
  const query = new URLSearchParams({ start: from, end: to, resource_id: resources.ada.id });
  const found = await other.send<{ timeslots: Slot[] }>({ method: 'GET', path: `${unit}/timeslots?${query}` });
  const slot = found?.body.timeslots[0];
  if (!slot) throw new Error(`No free slot: ${found?.text}`);
  const book = async (gateway: ChildGateway, patient: string, key: string = randomUUID()): Promise<Answer> => {
    const response = await gateway.send<{ reason?: string }>({
      ...{ method: 'POST', path: `${unit}/appointments`, headers: { 'idempotency-key': key } },
      body: {
        ...{ patient_id: `emr_id:${patient}`, resource_id: resources.ada.id, healthcare_service_id: 'appointment' },
        ...{ start_time: slot.start, end_time: slot.end },
      },
    });
    return { status: response?.status ?? 0, reason: response?.body.reason };
  };
  /** The end of a booking that was sent before. */
  const bookAgain = async (gateway: ChildGateway, patient: string, key: string): Promise<Answer> => {
    for (;;) {
      const answer = await book(gateway, patient, key);
      if (answer.status < 500) return answer;
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  };
  /** Holds the first call that `path` fits until it is let go. */
  const hold = (control: 'arrives' | 'counted', path = '') => {
    const [held, free] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const waiting = async (call?: { path: string }) => {
      if (call && !call.path.includes(path)) return;
      fake[control] = async () => undefined;
      held.resolve();
      await free.promise;
    };
    fake[control] = waiting;
    return { held: held.promise, letGo: free.resolve };
  };
  const booked = () =>
    [...fake.bookings.values()].filter(({ status }) => status === 'booked').map((it) => it.patient.id);
  return { fake, proxy, one, other, book, bookAgain, hold, booked };
}

async function freeze(child: ChildGateway): Promise<void> {
  process.kill(child.pid, 'SIGSTOP');
  await vi.waitFor(async () => expect(await isStopped(child)).toBe(true));
}
const wake = (child: ChildGateway) => process.kill(child.pid, 'SIGCONT');

const created = { status: 201, reason: undefined };
const away = { status: 503, reason: 'ehr_unavailable' };
const taken = { status: 400, reason: 'time_slot_unavailable' };

test('a gateway that freezes before it books, and loses its turn, books nothing', async () => {
  const { one, other, book, bookAgain, hold, booked } = await twoGateways();
  const { held, letGo } = hold('arrives', 'get_slots_for_day');
  const key = randomUUID();
  const first = book(one, people.asha, key);
  await held;
  await freeze(one);
  letGo();
  expect(await book(other, people.ravi)).toEqual(created);
  wake(one);
  expect(await first).toEqual(away);
  expect(await bookAgain(one, people.asha, key)).toEqual(taken);
  expect(booked()).toEqual([people.ravi]);
});

test('a gateway that freezes right after it has proved its turn books nothing', async () => {
  const { one, other, book, bookAgain, booked } = await twoGateways('UPDATE ehr_exclusive_turns');
  const key = randomUUID();
  const first = book(one, people.asha, key);
  await vi.waitFor(async () => expect(await isStopped(one)).toBe(true), { timeout: 60_000 });
  expect(await book(other, people.ravi)).toEqual(created);
  wake(one);
  expect(await first).toEqual(away);
  expect(await bookAgain(one, people.asha, key)).toEqual(taken);
  expect(booked()).toEqual([people.ravi]);
});

test('a gateway that freezes while CARE books takes the booking back if it turns out to be the second', async () => {
  const { fake, one, other, book, hold, booked } = await twoGateways();
  const { held, letGo } = hold('counted');
  const first = book(one, people.asha);
  await held;
  await freeze(one);
  expect(await book(other, people.ravi)).toEqual(created);
  letGo();
  await vi.waitFor(() => expect(fake.bookings.size).toBe(2));
  wake(one);
  expect(await first).toEqual(taken);
  expect(booked()).toEqual([people.ravi]);
});

test('a booking that CARE makes late, after its gateway was killed, is taken back if it is the second', async () => {
  // Whoever goes on with the write of a gateway that is gone waits for the end of its call.
  const times = { timeout_ms: 15_000, queue_timeout_ms: 15_000 };
  const { fake, one, other, book, bookAgain, hold, booked } = await twoGateways(undefined, times);
  const { held, letGo } = hold('counted');
  const key = randomUUID();
  const first = book(one, people.asha, key).catch(() => undefined);
  await held;
  await one.kill();
  await first;
  expect(await book(other, people.ravi)).toEqual(created);
  letGo();
  await vi.waitFor(() => expect(fake.bookings.size).toBe(2));
  await vi.waitFor(() => expect(booked()).toEqual([people.ravi]), { timeout: 120_000 });
  expect(await bookAgain(other, people.asha, key)).toEqual(taken);
  expect(booked()).toEqual([people.ravi]);
});

test('a gateway that the database is away from while it has its turn books nothing', async () => {
  const { proxy, one, other, book, hold, booked } = await twoGateways();
  const { held, letGo } = hold('arrives', 'get_slots_for_day');
  const first = book(one, people.asha);
  await held;
  proxy.goDown();
  letGo();
  // The database does not know the end of the write either.
  expect((await first).status).toBe(504);
  expect(booked()).toEqual([]);
  expect(await book(other, people.ravi)).toEqual(created);
  expect(booked()).toEqual([people.ravi]);
});

test.each([
  ['that takes a turn', 'INSERT INTO ehr_exclusive_turns'],
  ['that proves a turn', 'UPDATE ehr_exclusive_turns'],
  ['that gives a turn back', 'DELETE FROM ehr_exclusive_turns'],
] as const)('a lost answer to the statement %s books nobody twice', async (_, statement) => {
  const { proxy, one, other, book, bookAgain, booked } = await twoGateways();
  const cut = proxy.cutNext({ kind: 'after' }, (unit) => JSON.stringify(unit).includes(statement));
  const key = randomUUID();
  const first = await book(one, people.asha, key);
  await cut.settled;
  expect(first.status).toBe(statement.startsWith('DELETE') ? 201 : 503);
  const second = await book(other, people.ravi);
  expect(second).toEqual(first.status === 201 ? taken : created);
  expect(await bookAgain(one, people.asha, key)).toEqual(first.status === 201 ? created : taken);
  expect(booked()).toHaveLength(1);
});
