import fc from 'fast-check';
import { expect, test } from 'vitest';
import { packed, unpacked } from './kept-text.ts';

test('what is kept comes back word for word, long or short', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.nat({ max: 300 }), (body, times) => {
      const kept = { answer: { body: Array.from({ length: times }, () => body) } };
      expect(unpacked(packed(kept))).toEqual(JSON.parse(JSON.stringify(kept)));
    }),
  );
});

test('a short one is stored as plain JSON', () => {
  expect(packed({ answer: { body: { a: 'å' } } })).toBe('{"answer":{"body":{"a":"å"}}}');
});
