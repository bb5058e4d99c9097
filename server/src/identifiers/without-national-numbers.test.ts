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
  '19640823T323',
  '19640823-f323',
  '640823-P323',
  '991981000010',
  '99198100-0010',
  '198108340053',
])('%s does not stay in a text', (number) => {
  expect(withoutNationalNumbers(`The time of (${number}), was taken.`)).toBe('The time of (…), was taken.');
});

test('other numbers and times stay', () => {
  const text =
    'Ring 08-123 456 78 före 2026-03-20 09:00, rum 12, ärende 1234567890123456789, 20260320T0930, A12345678P123.';
  expect(withoutNationalNumbers(text)).toBe(text);
});
