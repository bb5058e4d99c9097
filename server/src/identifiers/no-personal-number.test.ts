import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { norwegianNumbers, withNeighboursSwapped, withOneDigitChanged } from './arbitraries.ts';
import { normaliseNoPersonalNumber } from './no-personal-number.ts';

const anyRange = fc.constantFrom(0, 40, 65, 80).chain(norwegianNumbers);

describe('Norwegian personal numbers', () => {
  test('of real people, fødselsnummer and D-number, are always accepted', () => {
    fc.assert(
      fc.property(norwegianNumbers(0), fc.boolean(), (number, synthetic) => {
        expect(normaliseNoPersonalNumber(number, synthetic)).toBe(number);
      }),
    );
  });

  test.each([
    ['Skatteetaten', 80],
    ['Nav', 40],
    ['Norsk helsenett', 65],
  ])('in the range of %s are for synthetic people only', (_, monthOffset) => {
    fc.assert(
      fc.property(norwegianNumbers(monthOffset), (number) => {
        expect(normaliseNoPersonalNumber(number, true)).toBe(number);
        expect(normaliseNoPersonalNumber(number, false)).toBeUndefined();
      }),
    );
  });

  test('with another month are rejected', () => {
    fc.assert(
      fc.property(fc.constantFrom(13, 20, 27, 53).chain(norwegianNumbers), (number) => {
        expect(normaliseNoPersonalNumber(number, true)).toBeUndefined();
      }),
    );
  });

  test.each(['15859000026', '55859000281', '15507600333', '55507608360'])('%s is synthetic', (number) => {
    expect(normaliseNoPersonalNumber(number, true)).toBe(number);
    expect(normaliseNoPersonalNumber(number, false)).toBeUndefined();
  });

  test('that are H-numbers are rejected for real people', () => {
    expect(normaliseNoPersonalNumber('13527248013', false)).toBeUndefined();
  });

  test.each(['02013299997', '30108299920', '30108299939', '70108299914'])(
    '%s has check digits by the rule from 2032',
    (number) => {
      expect(normaliseNoPersonalNumber(number, false)).toBe(number);
    },
  );

  test('with one wrong digit or two swapped neighbours are always rejected', () => {
    fc.assert(
      fc.property(
        anyRange.chain((number) => fc.tuple(fc.constant(number), withOneDigitChanged(number))),
        ([number, changed]) => {
          expect(normaliseNoPersonalNumber(changed, true)).toBeUndefined();
          for (const swapped of withNeighboursSwapped(number)) {
            expect(normaliseNoPersonalNumber(swapped, true)).toBeUndefined();
          }
        },
      ),
    );
  });

  test.each(['', '1585900002', '158590000260', '158590 00026', '158590-00026', '15859000026\n', '١٥٨٥٩٠٠٠٠٢٦'])(
    'must not have the form %j',
    (text) => {
      expect(normaliseNoPersonalNumber(text, true)).toBeUndefined();
    },
  );
});
