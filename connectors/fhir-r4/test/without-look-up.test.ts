import { describe, expect, test } from 'vitest';
import type { FakeOptions, FakeServer } from '../fake/server.ts';
import type { FhirSlot } from '../src/fhir.ts';
import { claimedSlot, claimOf } from '../src/mappers/slot.ts';
import type { FhirSettings } from '../src/settings.ts';
import { creation, freeSlots, write } from './bookings.ts';
import { startFake } from './fake.ts';
import { openConnector, settingsFor } from './subject.ts';

/** A server with `operation_lookup: false`, for EHRs that drop operation ids. */
async function open(options: FakeOptions, booking: FhirSettings['booking'] = {}) {
  const server = await startFake({ ...options, data: { days: 14 } });
  const settings = settingsFor(server.url, { booking: { operation_lookup: false, ...booking } });
  return { server, connector: await openConnector(settings) };
}

const slotsTaken = ({ store }: FakeServer) => store.all('Slot').filter(({ status }) => status !== 'free');
const inTenMinutes = () => new Date(Date.now() + 600_000);

describe.each([
  ['transaction', 'atomic'],
  ['slot_claim', 'none'],
] as const)('in `%s` without operation ids', (_, transactions) => {
  test('a hold can be confirmed, and a cancellation frees its slot', async () => {
    const { server, connector } = await open({ transactions });
    const [slot] = await freeSlots(connector, 1);
    const [held] = await write(connector, [creation(slot, inTenMinutes())]);
    const appointmentId = held?.id ?? '';
    expect(await write(connector, [{ kind: 'confirm', appointmentId }])).toMatchObject([{ state: 'booked' }]);
    expect(slotsTaken(server)).toHaveLength(1);
    expect(await write(connector, [{ kind: 'cancel', appointmentId }])).toMatchObject([{ state: 'cancelled' }]);
    expect(slotsTaken(server)).toEqual([]);
  });

  test('releasing a hold frees its slot', async () => {
    const { server, connector } = await open({ transactions });
    const [slot] = await freeSlots(connector, 1);
    const [held] = await write(connector, [creation(slot, inTenMinutes())]);
    await write(connector, [{ kind: 'release', appointmentId: held?.id ?? '' }]);
    expect(slotsTaken(server)).toEqual([]);
  });
});

test('a slot whose final update was lost stays taken by its appointment after the claim has expired', async () => {
  const { server, connector } = await open({ transactions: 'none' });
  const [slot] = await freeSlots(connector, 1);
  let puts = 0;
  server.misbehave = ({ method, path }) =>
    method === 'PUT' && path.startsWith('/Slot/') && ++puts > 1 ? 'cut_before' : undefined;
  expect(await write(connector, [creation(slot)])).toMatchObject([{ state: 'booked' }]);
  server.misbehave = () => undefined;

  const [claimed] = slotsTaken(server) as unknown as FhirSlot[];
  expect(claimed?.status).toBe('busy-tentative');
  const owner = claimOf(claimed as FhirSlot)?.owner ?? '';
  const until = new Date(Date.now() - 60_000);
  server.store.save(claimedSlot(claimed as FhirSlot, 'busy-tentative', { owner, until }));

  const [next] = await freeSlots(connector, 1);
  expect(next?.start).not.toEqual(slot?.start);
  await expect(write(connector, [creation(slot)])).rejects.toMatchObject({ kind: 'time_slot_unavailable' });
});
