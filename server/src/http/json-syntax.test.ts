import fc from 'fast-check';
import { expect, test } from 'vitest';
import { syntaxErrorIn } from './json-syntax.ts';

test.each([
  ['', 1, 1],
  ['  ', 1, 3],
  ["{'a': 1}", 1, 2],
  ['{"a": 1,}', 1, 9],
  ['{"a": 1 "b": 2}', 1, 9],
  ['{"a": undefined}', 1, 7],
  ['{"a": 01}', 1, 8],
  ['{"a": 1', 1, 8],
  ['{"a": "1}', 1, 7],
  ['{"a": [1, 2}}', 1, 12],
  ['{"a" 1}', 1, 6],
  ['{"a": 1}}', 1, 9],
  ['[1,\n2,\r\n3 4]', 3, 3],
  ['{"a":\t"\t"}', 1, 7],
])('%j is not JSON at line %i, column %i', (text, line, column) => {
  expect(() => JSON.parse(text)).toThrow();
  expect(syntaxErrorIn(text)).toEqual({ line, column });
});

const pieces = [
  '{',
  '}',
  '[',
  ']',
  ':',
  ',',
  '"a"',
  '"\\u00e6"',
  '"\\x"',
  '0',
  '-1.5e3',
  '01',
  'true',
  'nul',
  ' ',
  '\n',
  '"',
  '\\',
];

test('finds an error exactly where JSON.parse does', () => {
  const anyText = fc.oneof(
    fc.array(fc.constantFrom(...pieces), { maxLength: 8 }).map((parts) => parts.join('')),
    fc.json().chain((text) => fc.nat(text.length).map((at) => text.slice(0, at) + text.slice(at + 1))),
    fc.json(),
  );
  fc.assert(
    fc.property(anyText, (text) => {
      expect(syntaxErrorIn(text) === undefined).toBe(isJson(text));
    }),
    { numRuns: 500 },
  );
});

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

test('a long string does not exhaust the stack', () => {
  expect(syntaxErrorIn(`{"a":"${'x'.repeat(1_048_576)}",}`)).toEqual({ line: 1, column: 1_048_585 });
});
