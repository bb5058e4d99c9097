import { expect, test } from 'vitest';
import { textForPeople } from './text-for-people.ts';

test('a text stays as the EHR wrote it', () => {
  expect(textForPeople('Kom fastande, och ta med legitimation.')).toBe('Kom fastande, och ta med legitimation.');
});

test('has one line without control characters', () => {
  expect(textForPeople('\u0000 Kom\r\n\tfastande\u2028.\u0007\n')).toBe('Kom fastande .');
});

test('has at most 500 characters', () => {
  expect(textForPeople('😀'.repeat(501))).toBe('😀'.repeat(500));
});

test('has no national number', () => {
  expect(textForPeople('19640823-3234 har redan en tid')).toBe('… har redan en tid');
});

test.each([undefined, null, '', ' \n '])('%j is no text', (text) => {
  expect(textForPeople(text)).toBeUndefined();
});
