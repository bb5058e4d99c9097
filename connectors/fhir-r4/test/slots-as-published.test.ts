import type { Connector } from '@crossward/connector-kit';
import { afterEach, describe, expect, test } from 'vitest';
import type { FhirResource, FhirSlot } from '../src/fhir.ts';
import { creation, write } from './bookings.ts';
import { startFake } from './fake.ts';
import { north, openCounting, settingsFor } from './subject.ts';

const from = new Date('2031-02-03T00:00:00Z');
const until = new Date('2031-02-10T00:00:00Z');
const ofProcess = process.env.TZ;

afterEach(() => {
  if (ofProcess === undefined) delete process.env.TZ;
  else process.env.TZ = ofProcess;
});

/** A server whose only Slots in that week are these, of the first schedule of `r-1`. */
async function start(slots: readonly Partial<FhirSlot>[], options: object = {}) {
  const server = await startFake({ data: { days: 14 }, ...options });
  const model = server.store.all('Slot').find(({ id }) => id?.startsWith('slot-r-1-'));
  for (const slot of slots) server.store.save({ ...model, status: 'free', ...slot } as FhirResource);
  const { connector, leftOut } = await openCounting(settingsFor(server.url));
  return { server, connector, leftOut };
}

function list(connector: Connector) {
  const query = { careUnit: north, start: from, end: until, resourceIds: ['r-1'], limit: 100 };
  return connector.listTimeSlots?.({ ...query, healthcareServiceIds: ['consultation'] });
}

const good = { id: 'good', start: '2031-02-03T08:00:00+01:00', end: '2031-02-03T08:30:00+01:00' };
const goodTime = { start: new Date('2031-02-03T07:00:00Z'), end: new Date('2031-02-03T07:30:00Z') };

describe('a Slot whose time', () => {
  test.each([
    ['has no offset', '2031-02-04T08:00:00', '2031-02-04T08:30:00', '/start'],
    ['has an offset in the start only', '2031-02-04T08:00:00Z', '2031-02-04T08:30:00', '/end'],
    ['is a bare date', '2031-02-04', '2031-02-05', '/start'],
    ['does not exist', '2031-02-30T08:00:00Z', '2031-02-30T08:30:00Z', '/start'],
    ['ends when it starts', '2031-02-04T08:00:00Z', '2031-02-04T08:00:00Z', '/end'],
  ])('%s is left out and counted, wherever the gateway runs', async (_, begin, end, path) => {
    // The fake server would not find it by its time.
    const { server, connector, leftOut } = await start([good]);
    const bad = { ...server.store.get('Slot/good'), id: 'bad', start: begin, end } as FhirResource;
    server.misbehave = ({ method, path: asked }) =>
      method === 'GET' && asked.startsWith('/Slot')
        ? {
            status: 200,
            body: {
              resourceType: 'Bundle',
              type: 'searchset',
              entry: [server.store.get('Slot/good'), bad].map((resource) => ({ resource })),
            },
          }
        : undefined;
    for (const zone of ['UTC', 'Pacific/Kiritimati', 'America/St_Johns']) {
      process.env.TZ = zone;
      leftOut.splice(0);
      expect(await list(connector)).toEqual([expect.objectContaining(goodTime)]);
      expect(leftOut[0]).toEqual({ type: 'Slot', id: 'bad', path });
    }
  });
});

test('a Slot without an id is left out and counted', async () => {
  const { server, connector, leftOut } = await start([good]);
  const found = server.store.get('Slot/good') as FhirResource;
  const { id: _id, ...nameless } = { ...found, start: '2031-02-04T08:00:00Z', end: '2031-02-04T08:30:00Z' };
  const entry = [nameless, found].map((resource) => ({ resource }));
  server.misbehave = ({ method, path }) =>
    method === 'GET' && path === '/Slot'
      ? { status: 200, body: { resourceType: 'Bundle', type: 'searchset', entry } }
      : undefined;
  expect(await list(connector)).toEqual([expect.objectContaining(goodTime)]);
  expect(leftOut[0]).toEqual({ type: 'Slot', path: '/id' });
});

describe('a Slot for several patients', () => {
  const day = { start: '2031-02-04T08:00:00+01:00', end: '2031-02-04T17:00:00+01:00' };
  const capacity = (valueInteger: number) => ({
    extension: [{ url: 'http://fhir-registry.smarthealthit.org/StructureDefinition/slot-capacity', valueInteger }],
  });

  test.each([
    ['of nine hours', day, '/end'],
    ['of nine hours with a capacity', { ...day, ...capacity(300) }, '/extension'],
    [
      'of half an hour with a capacity',
      { start: day.start, end: '2031-02-04T08:30:00+01:00', ...capacity(2) },
      '/extension',
    ],
    ['that is full', { ...day, ...capacity(0) }, '/extension'],
  ])('%s is neither offered nor booked, and counted', async (_, slot, path) => {
    const { server, connector, leftOut } = await start([good, { ...slot, id: 'several' }]);
    expect(await list(connector)).toEqual([expect.objectContaining(goodTime)]);
    expect(leftOut).toContainEqual({ type: 'Slot', id: 'several', path });
    const before = server.store.get('Slot/several');
    const [begin, end] = [new Date(slot.start), new Date(slot.end)];
    for (const part of [end, new Date(begin.getTime() + 30 * 60_000)]) {
      const wanted = { start: begin, end: part, resourceId: 'r-1', healthcareServiceId: 'consultation' };
      await expect(write(connector, [creation(wanted)])).rejects.toMatchObject({ kind: 'time_slot_unavailable' });
    }
    expect(server.store.get('Slot/several')).toEqual(before);
  });

  test.each([
    ['of an hour', { start: '2031-02-04T08:00:00+01:00', end: '2031-02-04T09:00:00+01:00' }],
    ['with a capacity of one', { start: day.start, end: '2031-02-04T08:30:00+01:00', ...capacity(1) }],
  ])('is not one %s', async (_, slot) => {
    const { connector, leftOut } = await start([{ ...slot, id: 'one' }]);
    const [found] = (await list(connector)) ?? [];
    expect(found).toMatchObject({ start: new Date(slot.start), end: new Date(slot.end) });
    expect(leftOut).toEqual([]);
    if (found) expect(await write(connector, [creation(found)])).toMatchObject([{ state: 'booked' }]);
  });
});
