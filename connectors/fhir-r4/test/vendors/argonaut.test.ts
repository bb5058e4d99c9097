import { expect, test } from 'vitest';
import { creation, freeSlots, write } from '../bookings.ts';
import { probeServer } from '../subject.ts';
import { describeBooking, describeHold, inTenMinutes, openVendor, type Vendor } from './vendor.ts';

const argonaut: Vendor = { operations: 'argonaut' };

describeBooking(argonaut, {
  changes: ['create', 'cancel'],
  changesWithHold: ['create', 'cancel', 'confirm', 'extend', 'release'],
  probed: 'ok',
});
describeHold(argonaut);

test('a server without update and patch can only create', async () => {
  const { connector } = await openVendor(argonaut, { hold: true }, { operationsOnly: true });
  expect(connector.capabilities.changes).toEqual(['create']);
});

test('a hold that the server ends too early is rejected and released, because `Expires` says when it ends', async () => {
  const { server, connector } = await openVendor(argonaut, { hold: true }, { holdMilliseconds: 120_000 });
  const [slot] = await freeSlots(connector, 1);
  const held = write(connector, [creation(slot, inTenMinutes())]);
  await expect(held).rejects.toMatchObject({ kind: 'rejected' });
  expect(server.store.all('Appointment').filter(({ status }) => status === 'pending')).toEqual([]);
  expect(await freeSlots(connector, 1)).toEqual([slot]);
  const inTime = creation(slot, new Date(Date.now() + 60_000));
  expect(await write(connector, [inTime])).toMatchObject([{ state: 'held' }]);
});

test('the probe notes that the server has `$hold` where the settings do not use it', async () => {
  const { settings } = await openVendor(argonaut);
  const { findings } = await probeServer(settings);
  expect(findings.find(({ name }) => name === 'operations')?.status).toBe('note');
});
