import { expect, test } from 'vitest';
import { Problem } from '../problems/problem.ts';
import { readReturnUrl } from './sent-details.ts';

const client = { returnUrls: ['https://booking.example.org/done', 'https://other.example.org', 'http://localhost'] };

test.each([
  ['https://booking.example.org/done', 'https://booking.example.org/done'],
  ['https://booking.example.org/done?visit=7#top', 'https://booking.example.org/done?visit=7#top'],
  ['HTTPS://BOOKING.example.org:443/done/today', 'https://booking.example.org/done/today'],
  ['https://booking.example.org/away/../done', 'https://booking.example.org/done'],
  ['https://other.example.org/anything', 'https://other.example.org/anything'],
  ['http://localhost:3000/', 'http://localhost:3000/'],
])('%s is allowed', (text, read) => {
  expect(readReturnUrl(text, client)).toBe(read);
});

test.each([
  'https://booking.example.org/',
  'https://booking.example.org/done2',
  'https://booking.example.org/done/..',
  'https://booking.example.org/done/%2e%2e/',
  'https://booking.example.org/done\\..\\..',
  'https://booking.example.org:8443/done',
  'http://booking.example.org/done',
  'https://booking.example.org.evil.example/done',
  'https://booking.example.org@evil.example/done',
  'https://user@booking.example.org/done',
  '//booking.example.org/done',
  'javascript:alert(1)',
  'data:text/html,done',
  'done',
  '',
])('%s is not allowed', (text) => {
  expect(() => readReturnUrl(text, client)).toThrow(Problem);
});

test('is optional, and never allowed for a client without URLs', () => {
  expect(readReturnUrl(undefined, { returnUrls: [] })).toBeUndefined();
  expect(() => readReturnUrl('https://booking.example.org/done', { returnUrls: [] })).toThrow('return_url_not_allowed');
});
