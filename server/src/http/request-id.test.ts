import fc from 'fast-check';
import { expect, test } from 'vitest';
import { requestId } from './request-id.ts';

const given = (value: string | undefined) =>
  requestId({ headers: value === undefined ? {} : { 'x-request-id': value } });
const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

test.each(['a', 'Z', 'req-1', 'a.b_c-D9', '0123456789012345678a', 'x'.repeat(64)])('keeps %s', (value) => {
  expect(given(value)).toBe(value);
});

test.each([
  undefined,
  '',
  '1',
  '15859000026',
  '555-1234',
  '1.2_3',
  'x'.repeat(65),
  'a b',
  ' a',
  'a\n',
  'å',
  'a@b.c',
  'a,b',
  'a/b',
  'a:b',
  '%41',
])('makes a new one for %j', (value) => {
  expect(given(value)).toMatch(uuid);
});

test('is always short and plain, with a letter unless it is a new one', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 80 }), (value) => {
      const id = given(value);
      expect(id).toMatch(/^[A-Za-z0-9._-]{1,64}$/);
      if (id === value) expect(id).toMatch(/[A-Za-z]/);
      else expect(id).toMatch(uuid);
    }),
  );
});
