/** @module-tag any-database */
import type { Connector } from '@crossward/connector-kit';
import { afterAll, expect, test } from 'vitest';
import { wrapConnector } from '../../../test/ehrs/other-ehrs.ts';
import { startGateway } from '../../../test/gateway/gateway.ts';
import { bergen, book, creationBody, freeSlot, oslo } from '../../../test/requests/bookings.ts';
import type { EhrConnection } from '../ehr/connection.ts';

/** Searches for time slots that wait until the test ends them. `undefined`: they do not wait. */
let held: (() => void)[] | undefined;

function slowToSearch(connector: Connector): Connector {
  return {
    ...connector,
    async listTimeSlots(query) {
      if (held) await new Promise<void>((resolve) => void held?.push(resolve));
      return (await connector.listTimeSlots?.(query)) ?? [];
    },
  };
}

const gateway = await startGateway({
  connectors: [wrapConnector(slowToSearch)],
  configure: (configuration) => ({
    ...configuration,
    emrs: configuration.emrs.map((emr) => ({
      ...emr,
      connection: { ...emr.connection, timeout_ms: 300_000 },
    })),
  }),
});
const other = await startGateway({ beside: gateway });
afterAll(async () => {
  await other.close();
  await gateway.close();
});

/** Counts the searches that reach the connection. */
function countSearches(): { count: number } {
  const ehr = gateway.deps.ehrs.get('sandbox-no') as { -readonly [Name in keyof EhrConnection]: EhrConnection[Name] };
  const { searchTimeSlots } = ehr;
  const searches = { count: 0 };
  ehr.searchTimeSlots = (query) => {
    searches.count += 1;
    return searchTimeSlots(query);
  };
  return searches;
}

const day = 24 * 60 * 60 * 1000;
const range = new URLSearchParams({
  start: new Date(Date.now() + 40 * day).toISOString(),
  end: new Date(Date.now() + 47 * day).toISOString(),
});

test('identical searches of several clients are one call, which goes on when one of them disconnects', async () => {
  const searches = countSearches();
  const calls: (() => void)[] = [];
  held = calls;
  const path = `${oslo}/timeslots?${range}`;
  const { id, secret } = gateway.credentials('everything');
  const leaving = new AbortController();
  const first = fetch(`http://127.0.0.1:${gateway.port}${path}`, {
    headers: { 'x-service-client-id': id, 'x-service-client-secret': secret },
    signal: leaving.signal,
  }).catch((error: Error) => error.name);
  await expect.poll(() => calls.length).toBe(1);
  const others = (['everything', 'narrowed', 'appointments:read'] as const).map((client) =>
    gateway.request<{ timeslots: unknown[] }>('GET', path, { client }),
  );
  await expect.poll(() => searches.count).toBe(4);
  leaving.abort();
  expect(await first).toBe('AbortError');
  await expect.poll(() => gateway.logLines.some((line) => line.includes('"aborted":true'))).toBe(true);
  expect(calls).toHaveLength(1);
  held = undefined;
  calls[0]?.();
  const responses = await Promise.all(others);
  expect(responses.map(({ status }) => status)).toEqual([200, 200, 200]);
  expect(responses[0]?.body.timeslots).toHaveLength(100);
  for (const { body } of responses) expect(body.timeslots).toEqual(responses[0]?.body.timeslots);
});

test('a client without a grant gets no part of a shared search', async () => {
  const calls: (() => void)[] = [];
  held = calls;
  const path = `${bergen}/timeslots?${range}`;
  const granted = gateway.request('GET', path);
  await expect.poll(() => calls.length).toBe(1);
  expect((await gateway.request('GET', path, { client: 'narrowed' })).status).toBe(404);
  expect((await gateway.request('GET', path, { client: 'notes:read' })).status).toBe(403);
  held = undefined;
  calls[0]?.();
  expect((await granted).status).toBe(200);
});

test('dry runs and bookings always search in the EHR', async () => {
  const slot = await freeSlot(gateway, { resourceId: 'r-4' });
  const dryRun = () => gateway.request('POST', `${oslo}/appointments?dry_run=true`, { body: creationBody(slot) });
  expect((await dryRun()).status).toBe(200);
  await book(other, { slot });
  expect(await dryRun()).toMatchObject({ status: 400, body: { reason: 'time_slot_unavailable' } });
  const body = creationBody(slot);
  expect(await gateway.request('POST', `${oslo}/appointments`, { body })).toMatchObject({
    status: 400,
    body: { reason: 'time_slot_unavailable' },
  });
});

test('a caller does not see the time of its own booking as free', async () => {
  const slot = await freeSlot(gateway, { resourceId: 'r-2' });
  await book(gateway, { slot });
  expect((await freeSlot(gateway, { resourceId: 'r-2' })).start).not.toBe(slot.start);
});
