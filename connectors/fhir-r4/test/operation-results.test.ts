import { randomUUID } from 'node:crypto';
import { afterEach, expect, test } from 'vitest';
import { type FakeServer, startFake } from '../fake/server.ts';
import type { FhirResource } from '../src/fhir.ts';
import { creation, freeSlots, write } from './bookings.ts';
import { north, openConnector, settingsFor } from './subject.ts';

const servers: FakeServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});

test.each([
  ['all', ['r-2']],
  ['some', ['r-1', 'r-2']],
] as const)(
  'the outcome of a write is unknown, not absent, when the roles of %s of its appointments became inactive',
  async (_, ids) => {
    const server = await startFake({ data: { days: 14 } });
    servers.push(server);
    const connector = await openConnector(settingsFor(server.url));
    const slots = await Promise.all(ids.map(async (id) => (await freeSlots(connector, 1, id))[0]));
    const operationId = randomUUID();
    const changes = slots.map((slot) => creation(slot as never));
    const made = await write(connector, changes, operationId);
    expect(await connector.findOperation?.(north, operationId)).toEqual(made);

    const role = server.store.get('PractitionerRole/role-2');
    server.store.save({ ...role, active: false } as FhirResource);
    const later = await openConnector(settingsFor(server.url));
    await expect(later.findOperation?.(north, operationId)).rejects.toMatchObject({ kind: 'outcome_unknown' });
    expect(await later.findOperation?.(north, randomUUID())).toBeNull();
  },
);
