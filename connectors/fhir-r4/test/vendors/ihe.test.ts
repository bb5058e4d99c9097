import { expect, test } from 'vitest';
import { describeBooking, describeHold, openVendor, type Vendor } from './vendor.ts';

const ihe: Vendor = { operations: 'ihe' };

describeBooking(ihe, {
  changes: ['create', 'cancel'],
  changesWithHold: ['create', 'cancel', 'confirm', 'extend', 'release'],
});
describeHold(ihe);

test('a server without update and patch can create and, by `$book`, cancel', async () => {
  const { connector } = await openVendor(ihe, { hold: true }, { operationsOnly: true });
  expect(connector.capabilities.changes).toEqual(['create', 'cancel']);
});
