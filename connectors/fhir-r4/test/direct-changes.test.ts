import { plainHttp } from '@crossward/connector-kit/conformance';
import { expect, test } from 'vitest';
import type { FakeOptions, FakeServer } from '../fake/server.ts';
import { fhirR4Connector } from '../src/connector.ts';
import type { FhirSlot } from '../src/fhir.ts';
import { slotTime } from '../src/mappers/slot.ts';
import { creation, freeSlots, write } from './bookings.ts';
import { startFake } from './fake.ts';
import { north, openConnector, settingsFor } from './subject.ts';

async function start(options: FakeOptions) {
  const server = await startFake({ data: { days: 7 }, ...options });
  const context = {
    emr: 'fhir',
    settings: settingsFor(server.url),
    careUnits: [north],
    http: plainHttp(),
    now: () => new Date(),
  };
  return { server, changes: await fhirR4Connector.directChanges?.(context) };
}

const statuses = ({ store }: FakeServer) => new Set(store.all('Slot').map((it) => (it as unknown as FhirSlot).status));

/** The time of the first two Slots of a resource on the last day with slots, at 08:00 and 08:30. */
function hourOf({ store }: FakeServer) {
  const starts = store
    .all('Slot')
    .map((it) => it as unknown as FhirSlot)
    .filter(({ schedule }) => schedule?.reference === 'Schedule/schedule-r-1')
    .flatMap((slot) => slotTime(slot)?.start.getTime() ?? [])
    .sort((a, b) => a - b);
  const start = new Date(starts.at(-12) ?? 0);
  const end = new Date(start.getTime() + 60 * 60_000);
  return { start, end, resourceId: 'r-1', healthcareServiceId: 'consultation' };
}

test('a booking takes all Slots of its time, and a cancellation frees them', async () => {
  const { server, changes } = await start({});
  const hour = hourOf(server);
  const free = await changes?.take?.(hour);
  const minutes = [hour.start.getTime(), hour.start.getTime() + 30 * 60_000].map((it) => it / 60_000);
  for (const at of minutes) expect(server.store.get(`Slot/slot-r-1-${at}`)).toMatchObject({ status: 'busy' });
  await expect(changes?.take?.(hour)).rejects.toMatchObject({ kind: 'time_slot_unavailable' });
  await free?.();
  expect(statuses(server)).toEqual(new Set(['free']));
});

test('a move takes the Slots of the new time, and frees those of the former one', async () => {
  const { server, changes } = await start({});
  const connector = await openConnector(settingsFor(server.url));
  const [from, to] = await freeSlots(connector, 2);
  const [made] = await write(connector, [creation(from)]);
  if (!made) throw new Error('Nothing was booked');
  await changes?.move?.(made, to);
  expect(await connector.findAppointments?.(north, [made.id])).toMatchObject([{ start: to.start, end: to.end }]);
  const [next, free] = await freeSlots(connector, 2);
  expect(next.start).toEqual(from.start);
  expect(free.start).not.toEqual(to.start);
  await expect(changes?.move?.(made, to)).rejects.toMatchObject({ kind: 'time_slot_unavailable' });
});

const documentChanges = ['changeDocument', 'changeNote', 'retractDocument', 'retractNote'];

test.each([
  [{}, ['attend', 'cancel', 'comment', 'delete', 'move', 'overbook', 'take', ...documentChanges]],
  [{ history: false }, ['attend', 'cancel', 'comment', 'move', 'overbook', 'take', ...documentChanges]],
  [
    { deletedSearch: 'known' },
    ['attend', 'cancel', 'comment', 'delete', 'move', 'overbook', 'take', ...documentChanges],
  ],
  [{ documents: false }, ['attend', 'cancel', 'comment', 'delete', 'move', 'overbook', 'take']],
  [{ plainWrites: false, checksAppointments: true }, ['attend', 'cancel', 'comment', 'delete', ...documentChanges]],
  [{ plainWrites: false, patchOnly: true }, ['attend', 'cancel', 'comment', ...documentChanges]],
  [{ plainWrites: false, operations: 'ihe', operationsOnly: true }, documentChanges],
] satisfies [FakeOptions, string[]][])('the server options %j determine the changes', async (options, names) => {
  const { changes } = await start({ transactions: 'none', ...options });
  expect(Object.keys(changes ?? {}).sort()).toEqual(names.sort());
});
