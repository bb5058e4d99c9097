import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { scanJson } from './json-scan.ts';

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
        expect(scanJson(text, unlimited)).toBeUndefined();
        expect(scanJson(text, { depth, values })).toBeUndefined();
        expect(scanJson(text, { ...unlimited, values: values - 1 })).toEqual({ kind: 'too many values' });
        if (depth > 0) expect(scanJson(text, { ...unlimited, depth: depth - 1 })).toEqual({ kind: 'too deep' });
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
        expect(scanJson(`[{${fields.join()}}]`, unlimited)).toBeUndefined();
        expect(scanJson(`[{${fields.join()},${literal}:0}]`, unlimited)).toMatchObject({ kind: 'repeated name' });
      }),
    );
  });
});

test('never throws, whatever the text', () => {
  const pieces = fc.array(fc.oneof(fc.string(), fc.constantFrom('{', '}', '[', ']', '"', ':', ',', '\\', '1', '"a"')));
  fc.assert(fc.property(pieces, (parts) => void scanJson(parts.join(''), { depth: 5, values: 10 })));
});

test.each([
  ['{"a":1,"a":2}', '/a', true],
  ['[0,{"a":[{},{"b":1,"b":1}]}]', '/1/a/1/b', true],
  ['{"a":{"b":1},"b":{"a":1,"a":1}}', '/b/a', true],
  ['{"12345":1,"12345":1}', '', false],
  ['{"a":{"12345":{"b":1,"b":1}}}', '/a', false],
])('finds the repeated name in %s at %j', (text, pointer, isWhole) => {
  expect(scanJson(text, unlimited)).toEqual({ kind: 'repeated name', pointer, isWhole });
});
