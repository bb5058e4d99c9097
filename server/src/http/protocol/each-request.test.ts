import fc from 'fast-check';
import { expect, test } from 'vitest';
import { requestId } from './each-request.ts';

const given = (value: string | undefined) =>
  requestId({ headers: value === undefined ? {} : { 'x-request-id': value } });
const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

test.each([
  '0b5e0c4e-3f0a-4c39-9d0e-2a4f4d9f6a11',
  '0B5E0C4E-3F0A-7C39-9D0E-2A4F4D9F6A11',
  '01ARZ3NDEKTSV4RRFFQ69G5FAV',
  '01arz3ndektsv4rrffq69g5fav',
  '7ZZZZZZZZZZZZZZZZZZZZZZZZZ',
  '4bf92f3577b34da6a3ce929d0e0e4736',
  '4BF92F3577B34DA6A3CE929D0E0E4736',
  // Digits among letters could by chance be a number.
  'aa158590-0002-6aaa-aaaa-aaaaaaaaaaaa',
  'f191212121212345678901234567890a',
  '01ARZ9990000018TSV4RRFFQ69',
])('keeps %s', (value) => {
  expect(given(value)).toBe(value);
});

test.each([
  undefined,
  '',
  '1',
  '15859000026',
  'patient-15859000026',
  'no_personal_number.15859000026',
  'req-1',
  'a',
  'x'.repeat(26),
  'x'.repeat(32),
  '0'.repeat(32),
  '15859000026158590000261585900002',
  '01585900002600000000000000',
  // Digits only, in accepted forms.
  '00000000-0000-4000-8000-015859000026',
  '00000000000000000000191212121212',
  '00000000000000009990000018',
  // No version, no variant.
  '00000000-0000-0000-0000-000000000000',
  'ffffffff-ffff-ffff-ffff-ffffffffffff',
  'a0000000-0000-0000-8000-015859000026',
  'a0000000-0000-9000-8000-015859000026',
  'a0000000-0000-4000-0000-015859000026',
  'ABCDEFAB-CDEF-4BCD-EFAB-C15859000026',
  // One character too few, one too many, and one that is not in the alphabet.
  '01ARZ3NDEKTSV4RRFFQ69G5FA',
  '01ARZ3NDEKTSV4RRFFQ69G5FAVV',
  '81ARZ3NDEKTSV4RRFFQ69G5FAV',
  '01ARZ3NDEKTSV4RRFFQ69G5FAU',
  '4bf92f3577b34da6a3ce929d0e0e473',
  '4bf92f3577b34da6a3ce929d0e0e4736a',
  '4bf92f3577b34da6a3ce929d0e0e473g',
  '0b5e0c4e3f0a-4c39-9d0e-2a4f4d9f6a11',
  '{0b5e0c4e-3f0a-4c39-9d0e-2a4f4d9f6a11}',
  '0b5e0c4e-3f0a-4c39-9d0e-2a4f4d9f6a11\n',
  ' 0b5e0c4e-3f0a-4c39-9d0e-2a4f4d9f6a11',
  'å',
])('generates a new id for %j', (value) => {
  const id = given(value);
  expect(id).toMatch(uuid);
  expect(id).not.toBe(value);
});

test('keeps every random id', () => {
  const ids = fc.oneof(fc.uuid(), fc.uuid({ version: 7 }), fc.ulid(), fc.stringMatching(/^[0-9a-f]{32}$/));
  fc.assert(
    fc.property(ids, (id) => {
      expect(given(id) === id).toBe(/[A-Za-z]/.test(id));
    }),
  );
});

test('is always a UUID, a ULID or 32 hexadecimal digits', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string({ unit: 'binary', maxLength: 80 }), fc.uuid(), fc.ulid()), (value) => {
      const id = given(value);
      if (id !== value) expect(id).toMatch(uuid);
      else expect([26, 32, 36]).toContain(id.length);
    }),
  );
});
