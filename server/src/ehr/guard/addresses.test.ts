import { expect, test } from 'vitest';
import { mayConnectTo } from './addresses.ts';

const open = ['93.184.215.14', '2606:2800:21f:cb07:6820:80da:af6b:8b2c', '::ffff:93.184.215.14', '64:ff9b::5db8:d70e'];
const inside = [
  '127.0.0.1',
  '127.8.9.10',
  '10.0.0.1',
  '172.16.0.1',
  '192.168.1.1',
  '100.64.0.1',
  '::1',
  'fd12:3456::1',
  '::ffff:10.0.0.1',
  '64:ff9b::7f00:1',
];
const never = [
  '169.254.169.254',
  '::ffff:169.254.169.254',
  '64:ff9b::a9fe:a9fe',
  '168.63.129.16',
  '100.100.100.200',
  'fd00:ec2::254',
  'fd20:ce::254',
  // Local-use NAT64 (RFC 8215): what it translates to depends on the network.
  '64:ff9b:1::808:808',
  '64:ff9b:1:a9fe:a9:fe00:808:808',
  '64:ff9b:1:ffff:a9fe:a9fe:808:808',
  'fe80::1',
  'fe80::1%eth0',
  '0.0.0.0',
  '::',
  '255.255.255.255',
  '224.0.0.1',
  'ff02::1',
  '192.0.2.1',
  '240.0.0.1',
  // IPv4-compatible (RFC 4291), translated (RFC 2765), 6to4 (RFC 3056), Teredo (RFC 4380), ISATAP (RFC 5214).
  '::7f00:1',
  '::a9fe:a9fe',
  '::808:808',
  '::ffff:0:7f00:1',
  '2002:7f00:1::',
  '2001:0:7f00:1::',
  '2606:2800:220:1:0:5efe:7f00:1',
  '2606:2800:220:1:200:5efe:7f00:1',
  // Outside of 2000::/3: site-local (RFC 3879), unallocated.
  'fec0::1',
  '4000::1',
  'example.org',
  '',
];

test.each(open)('allows %s for every connection', (address) => {
  expect([mayConnectTo(address, false), mayConnectTo(address, true)]).toEqual([true, true]);
});

test.each(inside)('allows %s only with private addresses', (address) => {
  expect([mayConnectTo(address, false), mayConnectTo(address, true)]).toEqual([false, true]);
});

test.each(never)('never allows %j', (address) => {
  expect([mayConnectTo(address, false), mayConnectTo(address, true)]).toEqual([false, false]);
});
