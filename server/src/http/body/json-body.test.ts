import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { faultInJson } from './json-body.ts';

const unlimited = { depth: Number.POSITIVE_INFINITY, values: Number.POSITIVE_INFINITY };

/** The same result, computed recursively from parsed JSON. */
function measure(value: unknown): { depth: number; values: number } {
  if (typeof value !== 'object' || value === null) return { depth: 0, values: 1 };
  const parts = Object.values(value).map(measure);
  return {
    depth: 1 + Math.max(0, ...parts.map(({ depth }) => depth)),
    values: parts.reduce((sum, part) => sum + part.values, 1),
  };
}

const space = fc.stringMatching(/^[ \t\r\n]{0,3}$/);
const name = fc.oneof(fc.string(), fc.constantFrom('a', 'b', '__proto__', '"', '\\', '{', ',', 'a":"'));
const { value: json } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.oneof(name, fc.integer(), fc.double({ noNaN: true }), fc.boolean(), fc.constant(null)),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(name, tie('value'), { maxKeys: 4 }),
  ),
}));
const written = fc.tuple(json, space).map(([value, indent]) => JSON.stringify(value, null, indent));

describe('for any JSON', () => {
  test('counts levels and values correctly', () => {
    fc.assert(
      fc.property(written, (text) => {
        const { depth, values } = measure(JSON.parse(text));
        expect(faultInJson(text, unlimited)).toBeUndefined();
        expect(faultInJson(text, { depth, values })).toBeUndefined();
        expect(faultInJson(text, { ...unlimited, values: values - 1 })).toEqual({ kind: 'too many values' });
        if (depth > 0) expect(faultInJson(text, { ...unlimited, depth: depth - 1 })).toEqual({ kind: 'too deep' });
      }),
    );
  });

  test('finds a repeated name, even if it is escaped', () => {
    const asEscapes = (text: string) =>
      [...Array(text.length).keys()]
        .map((index) => `\\u${text.charCodeAt(index).toString(16).padStart(4, '0')}`)
        .join('');
    const names = fc.uniqueArray(name, { minLength: 1, maxLength: 5 });
    fc.assert(
      fc.property(names, fc.nat(), json, fc.boolean(), (all, which, value, isEscaped) => {
        const again = all[which % all.length] ?? '';
        const fields = all.map((it) => `${JSON.stringify(it)}:${JSON.stringify(value)}`);
        const literal = isEscaped ? `"${asEscapes(again)}"` : JSON.stringify(again);
        expect(faultInJson(`[{${fields.join()}}]`, unlimited)).toBeUndefined();
        expect(faultInJson(`[{${fields.join()},${literal}:0}]`, unlimited)).toMatchObject({ kind: 'repeated name' });
      }),
    );
  });
});

test('never throws, whatever the text', () => {
  const pieces = fc.array(fc.oneof(fc.string(), fc.constantFrom('{', '}', '[', ']', '"', ':', ',', '\\', '1', '"a"')));
  fc.assert(fc.property(pieces, (parts) => void faultInJson(parts.join(''), { depth: 5, values: 10 })));
});

test.each([
  ['{"a":1,"a":2}', '/a', true],
  ['[0,{"a":[{},{"b":1,"b":1}]}]', '/1/a/1/b', true],
  ['{"a":{"b":1},"b":{"a":1,"a":1}}', '/b/a', true],
  ['{"12345":1,"12345":1}', '', false],
  ['{"a":{"12345":{"b":1,"b":1}}}', '/a', false],
])('finds the repeated name in %s at %j', (text, pointer, isWhole) => {
  expect(faultInJson(text, unlimited)).toEqual({ kind: 'repeated name', pointer, isWhole });
});

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
  expect(faultInJson(text, unlimited)).toEqual({ kind: 'syntax', line, column });
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
  '1.',
  '-',
  '//',
  '/*a*/',
  "'a'",
  '\v',
  '\u00a0',
  '\ufeff',
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
      const fault = faultInJson(text, unlimited);
      if (fault?.kind !== 'repeated name') expect(fault === undefined).toBe(isJson(text));
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
  expect(faultInJson(`{"a":"${'x'.repeat(1_048_576)}",}`, unlimited)).toEqual({
    kind: 'syntax',
    line: 1,
    column: 1_048_585,
  });
});
