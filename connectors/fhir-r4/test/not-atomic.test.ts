import { randomUUID } from 'node:crypto';
import type { TimeSlot } from '@crossward/connector-kit';
import { type PlainHttp, plainHttp } from '@crossward/connector-kit/conformance';
import { describe, expect, test } from 'vitest';
import type { FakeOptions, FakeServer, Fault, SeenRequest } from '../fake/server.ts';
import type { Bundle, FhirResource } from '../src/fhir.ts';
import type { FhirSettings } from '../src/settings.ts';
import { creation, freeSlots, write } from './bookings.ts';
import { startFake } from './fake.ts';
import { openConnector, settingsFor } from './subject.ts';

async function open(options: FakeOptions, booking: FhirSettings['booking'] = {}, http = plainHttp()) {
  const server = await startFake({ ...options, data: { days: 14 } });
  const settings = settingsFor(server.url, { booking: { mode: 'transaction', probe: false, ...booking } });
  return { server, connector: await openConnector(settings, http) };
}

const living = ({ store }: FakeServer) =>
  store.all('Appointment').filter(({ status }) => status !== 'entered-in-error');
const transactions = ({ seen }: FakeServer) => seen.filter(({ method, path }) => method === 'POST' && path === '/');
const slotId = ({ resourceId, start }: TimeSlot) => `slot-${resourceId}-${start.getTime() / 60_000}`;

describe('a transaction that the server ran as a batch', () => {
  /** A booking of two slots. Another client changes the second slot just before the transaction, so only part of it succeeds. */
  async function partlyDoneBooking(onCompensation: (request: SeenRequest) => Fault | undefined = () => undefined) {
    const { server, connector } = await open({ transactions: 'as_batch' });
    const [first, second] = (await freeSlots(connector, 2)) as [TimeSlot, TimeSlot];
    server.seen.splice(0);
    server.misbehave = (request) => {
      if (request.path !== '/') return transactions(server).length > 0 ? onCompensation(request) : undefined;
      server.store.save(server.store.get(`Slot/${slotId(second)}`));
      return undefined;
    };
    const operationId = randomUUID();
    const book = () => write(connector, [creation({ ...first, end: second.end })], operationId);
    return { server, connector, book, first };
  }

  test('is compensated, appointments before slots, and the server gets no other transaction', async () => {
    const { server, book, first } = await partlyDoneBooking();
    await expect(book()).rejects.toMatchObject({
      kind: 'rejected',
      message: expect.stringContaining('were compensated'),
    });
    expect(living(server)).toEqual([]);
    expect(server.store.all('Slot').filter(({ status }) => status !== 'free')).toEqual([]);
    const changes = server.seen.filter(({ method }) => method === 'DELETE' || method === 'PUT');
    expect(changes.map(({ method, path }) => [method, path.split('/')[1]])).toEqual([
      ['DELETE', 'Appointment'],
      ['PUT', 'Slot'],
    ]);
    expect(changes[1]?.path).toBe(`/Slot/${slotId(first)}`);
    await expect(book()).rejects.toMatchObject({ kind: 'rejected' });
    expect(transactions(server)).toHaveLength(1);
  });

  test.each([
    ['its appointment', '/Appointment/', 1],
    ['its slot', '/Slot/', 0],
  ] as const)('is unknown when %s cannot be restored, and the server gets no other transaction', async (...given) => {
    const [, path, left] = given;
    const { server, book, first } = await partlyDoneBooking(({ method, path: requested }) =>
      method !== 'GET' && requested.startsWith(path) ? { status: 403 } : undefined,
    );
    await expect(book()).rejects.toMatchObject({ kind: 'outcome_unknown' });
    expect(living(server)).toHaveLength(left);
    // The slot must stay busy while it may be booked.
    expect(server.store.get(`Slot/${slotId(first)}`).status).toBe('busy');
    await expect(book()).rejects.toMatchObject({ kind: left > 0 ? 'outcome_unknown' : 'rejected' });
    expect(transactions(server)).toHaveLength(1);
  });

  test('keeps later changes by others to its slots', async () => {
    let isTaken = false;
    const { server, book, first } = await partlyDoneBooking(({ method }) => {
      if (method !== 'DELETE' || isTaken) return undefined;
      isTaken = true;
      server.store.save({ ...server.store.get(`Slot/${slotId(first)}`), status: 'busy-unavailable' } as FhirResource);
      return undefined;
    });
    await expect(book()).rejects.toMatchObject({ kind: 'outcome_unknown' });
    expect(server.store.get(`Slot/${slotId(first)}`).status).toBe('busy-unavailable');
  });
});

describe.each([
  ['has no entries', () => undefined],
  ['has entries without status', (bundle: Bundle) => bundle.entry?.map(() => ({ response: {} }))],
] as const)('a transaction whose response %s', (_, entriesOf) => {
  const { send, stream, cut } = plainHttp();
  const http: PlainHttp = {
    cut,
    stream,
    async send(request) {
      const response = await send(request);
      if (request.method !== 'POST' || response.status !== 200) return response;
      const bundle = JSON.parse(response.text) as Bundle;
      if (bundle.type !== 'transaction-response') return response;
      return { ...response, text: JSON.stringify({ ...bundle, entry: entriesOf(bundle) }) };
    },
  };

  test('is looked up', async () => {
    const { server, connector } = await open({}, {}, http);
    const [slot] = await freeSlots(connector, 1);
    const made = await write(connector, [creation(slot)]);
    expect(made).toMatchObject([{ state: 'booked' }]);
    expect(living(server).map(({ id }) => id)).toEqual(made.map(({ id }) => id));
    expect(transactions(server)).toHaveLength(1);
  });

  test('is unknown where it cannot be looked up', async () => {
    const { server, connector } = await open({}, { operation_lookup: false }, http);
    const [slot] = await freeSlots(connector, 1);
    await expect(write(connector, [creation(slot)])).rejects.toMatchObject({ kind: 'outcome_unknown' });
    expect(transactions(server)).toHaveLength(1);
  });
});
