import { randomUUID } from 'node:crypto';
import { afterEach, expect, test } from 'vitest';
import { type FakeServer, startFake } from '../fake/server.ts';
import { creation, freeSlots, write } from './bookings.ts';
import { north, openConnector, settingsFor } from './subject.ts';

const servers: FakeServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});

test.each([
  ['all', ['r-2']],
  ['some', ['r-1', 'r-2']],
] as const)('the outcome of a write is unknown if the roles of %s of its appointments were removed', async (_, ids) => {
  const server = await startFake({ data: { days: 14 } });
  servers.push(server);
  const connector = await openConnector(settingsFor(server.url));
  const slots = await Promise.all(ids.map(async (id) => (await freeSlots(connector, 1, id))[0]));
  const operationId = randomUUID();
  const changes = slots.map((slot) => creation(slot as never));
  const made = await write(connector, changes, operationId);
  expect(await connector.findOperation?.(north, operationId)).toEqual(made);

  server.store.remove('PractitionerRole/role-2');
  const later = await openConnector(settingsFor(server.url));
  await expect(later.findOperation?.(north, operationId)).rejects.toMatchObject({ kind: 'outcome_unknown' });
  expect(await later.findOperation?.(north, randomUUID())).toBeNull();
});
