import { hash } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { nhsNumbers, norwegianNumbers, swedishNumbers } from '../identifiers/arbitraries.ts';
import { requestId } from './request-id.ts';

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
  // A Norwegian, a Swedish and a British number in accepted forms.
  '00000000-0000-0000-0000-015859000026',
  'a0000000-0000-0000-0000-015859000026',
  'ABCDEFAB-CDEF-ABCD-EFAB-C15859000026',
  'aa158590-0002-6aaa-aaaa-aaaaaaaaaaaa',
  'aaaaaaaaaaaaaaaaaaaa191212121212',
  'aaaaaaaaaaaaaaaaaaaaaa1212121212',
  '01ARZ3NDEKTSV4RR9990000018',
  '01ARZ9990000018TSV4RRFFQ69',
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

/** Forms with a place for as many digits as a number has. */
const forms = {
  uuid: (hex: string) => hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5'),
  hexadecimal: (hex: string) => hex,
  ulid: (hex: string) => `0${hex.slice(0, 25)}`,
};

test('never carries a national number, wherever it stands and whatever is around it', () => {
  const numbers = fc.oneof(
    fc.constantFrom(0, 40, 65, 80).chain(norwegianNumbers),
    swedishNumbers,
    swedishNumbers.map((number) => number.slice(2)),
    nhsNumbers,
  );
  const around = fc.stringMatching(/^[0-9a-f]{32}$/);
  fc.assert(
    fc.property(numbers, around, fc.nat(), fc.constantFrom(...Object.values(forms)), (number, hex, place, form) => {
      const at = place % (25 - number.length);
      const id = given(form(hex.slice(0, at) + number + hex.slice(at + number.length)));
      expect(id.replaceAll('-', '')).not.toContain(number);
    }),
  );
});

test('keeps nearly every random id', () => {
  const ids = Array.from({ length: 1000 }, (_, index) => forms.uuid(hash('sha256', String(index)).slice(0, 32)));
  expect(ids.filter((id) => given(id) === id).length).toBeGreaterThan(950);
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
