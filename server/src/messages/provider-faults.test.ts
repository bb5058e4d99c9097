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
])('%s is a fault of the provider', (reason) => {
  expect(isFaultOfProvider(reason)).toBe(true);
});

test.each([
  'http_400',
  'http_422',
  'address_invalid',
  'recipient_rejected_550',
  'twilio_21211',
  'twilio_30003',
  'elks_failed',
  'undelivered',
  'expired',
  'no_sender',
  'unreadable',
])('%s is not', (reason) => {
  expect(isFaultOfProvider(reason)).toBe(false);
});
