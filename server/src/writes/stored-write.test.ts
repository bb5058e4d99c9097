import fc from 'fast-check';
import { expect, test } from 'vitest';
import { compressJson, decompressJson } from './stored-write.ts';

test('a stored value is restored unchanged, short or long', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.nat({ max: 300 }), (body, times) => {
      const kept = { response: { body: Array.from({ length: times }, () => body) } };
      expect(decompressJson(compressJson(kept))).toEqual(JSON.parse(JSON.stringify(kept)));
    }),
  );
});

test('a short value is stored as plain JSON', () => {
  expect(compressJson({ response: { body: { a: 'å' } } })).toBe('{"response":{"body":{"a":"å"}}}');
});
