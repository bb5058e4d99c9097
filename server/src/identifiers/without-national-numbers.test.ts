import { expect, test } from 'vitest';
import { withoutNationalNumbers } from './without-national-numbers.ts';

test.each([
  '19640823-3234',
  '196408233234',
  '640823-3234',
  '640823+3234',
  '19640823 3234',
  '9434765919',
  '943 476 5919',
  '943-476-5919',
])('%s does not stay in a text', (number) => {
  expect(withoutNationalNumbers(`The time of (${number}), was taken.`)).toBe('The time of (…), was taken.');
});

test('other numbers and times stay', () => {
  const text = 'Ring 08-123 456 78 före 2026-03-20 09:00, rum 12, ärende 1234567890123456789.';
  expect(withoutNationalNumbers(text)).toBe(text);
});
