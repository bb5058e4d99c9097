import { expect, it } from 'vitest';
import { hashOfToken } from '../secrets/link-token.ts';
import { createReceiptUrls } from './receipt-urls.ts';

const silent = { send: async () => undefined };
const reporting = { ...silent, readReceipt: () => 'interim' as const };

it('are new for each attempt, and only the hash of their token is stored', () => {
  const urls = createReceiptUrls({ sms: reporting, email: silent }, 'https://appointments.example.org/below');
  const [one, other] = [urls?.create(), urls?.create()];
  expect(one?.url).toMatch(/^https:\/\/appointments\.example\.org\/below\/c\/receipts\/[\w-]{24}$/);
  expect(one?.url).not.toBe(other?.url);
  expect(one?.hash).toEqual(hashOfToken(one?.url.slice(-24) ?? ''));
  expect(urls?.channels).toEqual(new Set(['sms']));
});

it('are not made without a URL that providers can reach, or a provider that reports', () => {
  expect(createReceiptUrls({ sms: reporting }, undefined)).toBeUndefined();
  expect(createReceiptUrls({ sms: reporting }, 'http://127.0.0.1:8080')).toBeUndefined();
  expect(createReceiptUrls({ sms: silent }, 'https://appointments.example.org')).toBeUndefined();
});
