import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, expect, test } from 'vitest';
import { quota } from '../../connectors/fhir-r4/fake/quota.ts';
import { type FakeServer, startFake } from '../../connectors/fhir-r4/fake/server.ts';
import { careUnitPath } from '../ehrs/other-ehrs.ts';
import { startGateways } from '../gateway/several-gateways.ts';
import { creationBody, freeSlots, type Slot } from '../requests/bookings.ts';
import { fhirEhr, withEhrs } from './fhir-ehr.ts';

const data = { days: 42 };
const servers: Readonly<Record<string, FakeServer>> = {
  transaction: await startFake({ data }),
  slot_claim: await startFake({ data, transactions: 'none' }),
  fixed: await startFake({ data }),
};
const gateway = await startGateways(2, {
  configure: (demo) =>
    withEhrs(
      demo,
      Object.entries(servers).map(([id, server]) => {
        const ehr = fhirEhr(id, server);
        const fixedRate = id === 'fixed' ? { requests_per_second: 15 } : {};
        return { ...ehr, connection: { ...ehr.connection, changes_seconds: 0, ...fixedRate } };
      }),
    ),
});
afterAll(async () => {
  await gateway.close();
  for (const server of Object.values(servers)) await server.close();
});

const bookings = 32;
const dayMilliseconds = 24 * 60 * 60 * 1000;

/** Books all slots at once, as callers who come back after `Retry-After`. */
async function bookAll(path: string, slots: readonly Slot[]) {
  let rejected = 0;
  const book = async (slot: Slot) => {
    const headers = { 'idempotency-key': randomUUID() };
    for (;;) {
      const { status, headers: told } = await gateway.request('POST', `${path}/appointments`, {
        headers,
        body: creationBody(slot),
      });
      if (status === 201) return;
      expect(status).toBe(503);
      rejected++;
      await pause(Number(told['retry-after']) * 1000);
    }
  };
  const begun = performance.now();
  await Promise.all(slots.map(book));
  return { seconds: (performance.now() - begun) / 1000, rejected };
}

test.each(Object.keys(servers))('two gateways stay below the quota of an EHR: %s', { timeout: 240_000 }, async (id) => {
  const server = servers[id] as FakeServer;
  const path = careUnitPath(id, 'north');
  const from = new Date(Date.now() + 3 * dayMilliseconds);
  const slots = (await freeSlots(gateway, { careUnit: path, from })).slice(0, bookings);
  const limit = quota(20);
  server.misbehave = limit.limit;
  server.seen.splice(0);
  const { seconds, rejected } = await bookAll(path, slots);
  server.misbehave = () => undefined;
  expect(server.store.all('Appointment').filter(({ status }) => status === 'booked')).toHaveLength(bookings);
  // 32 bookings are some 100 requests, which take 5 seconds. On a busy machine they take longer, but are not more.
  const told = `${seconds.toFixed(1)} s, ${limit.rejected} rejected requests, ${rejected} callers told to come back`;
  expect(limit.rejected, told).toBeLessThan(id === 'fixed' ? 5 : bookings * 3);
  expect(seconds, told).toBeLessThan(60);
});
