import { expect, test } from 'vitest';
import { addressesIn, parseRange } from './address-ranges.ts';

test.each(['10.0.0.1', '10.0.0.0/8', '0.0.0.0/0', '::1', '2001:db8::/32', 'fe80::/10'])(
  'accepts %s as a range',
  (text) => {
    expect(parseRange(text)).toBeDefined();
  },
);

test.each([
  '',
  'proxy',
  '10.0.0',
  '10.0.0.0/33',
  '10.0.0.0/',
  '10.0.0.0/-1',
  '::/129',
  '10.0.0.1:80',
  'fe80::1%eth0',
  '/8',
])('rejects %j as a range', (text) => {
  expect(parseRange(text)).toBeUndefined();
});

test('matches addresses in IPv4 and IPv4-mapped form', () => {
  const isIn = addressesIn(['10.0.0.0/8', '2001:db8::/32', '192.0.2.1']);
  for (const address of ['10.1.2.3', '::ffff:10.1.2.3', '2001:db8::1', '192.0.2.1']) expect(isIn(address)).toBe(true);
  for (const address of ['11.1.2.3', '::ffff:11.1.2.3', '2001:db9::1', '192.0.2.2', 'unknown', '', undefined]) {
    expect(isIn(address)).toBe(false);
  }
  expect(addressesIn([])('127.0.0.1')).toBe(false);
});
