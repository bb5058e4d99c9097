import { expect, test } from 'vitest';
import { isFaultOfProvider } from './provider-faults.ts';

test.each([
  'connection_refused',
  'timeout',
  'certificate',
  'tls',
  'response_malformed',
  'http_500',
  'http_503',
  'http_401',
  'http_403',
  'http_404',
  'http_302',
  'credentials_rejected',
  'credentials_rejected_535',
  'sender_rejected_550',
  'starttls_rejected_454',
  'twilio_20003',
  // The sender: not a number, not of this account, without SMS, not registered.
  ...[21212, 21601, 21603, 21606, 21659, 21660, 21661, 30018, 30024, 30032, 30034].map((code) => `twilio_${code}`),
  // The account: suspended, a trial, its queue full, without permission for the region, its messaging service empty.
  ...[21408, 21608, 21703, 30001, 30002, 30023, 30037].map((code) => `twilio_${code}`),
])('%s is a fault of the provider', (reason) => {
  expect(isFaultOfProvider(reason)).toBe(true);
});

test.each([
  'http_400',
  'http_422',
  'address_invalid',
  'recipient_rejected_550',
  ...[21211, 21610, 21612, 21614, 21617, 21635, 30003, 30005, 30006, 30007, 30008].map((code) => `twilio_${code}`),
  'elks_failed',
  'undelivered',
  'expired',
  'no_sender',
  'unreadable',
])('%s is not', (reason) => {
  expect(isFaultOfProvider(reason)).toBe(false);
});
