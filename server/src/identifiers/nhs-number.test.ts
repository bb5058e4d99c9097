import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { nhsNumbers, withNeighboursSwapped, withNhsCheckDigit, withOneDigitChanged } from './arbitraries.ts';
import { normaliseNhsNumber } from './nhs-number.ts';

const spaced = (number: string) => `${number.slice(0, 3)} ${number.slice(3, 6)} ${number.slice(6)}`;

describe('NHS numbers', () => {
  test('have ten digits, with or without spaces, and are stored without', () => {
    fc.assert(
      fc.property(nhsNumbers, (number) => {
        expect(normaliseNhsNumber(number, true)).toBe(number);
        expect(normaliseNhsNumber(spaced(number), true)).toBe(number);
        expect(normaliseNhsNumber([...number].join(' '), true)).toBe(number);
      }),
    );
  });

  test.each(['9990000018', '9990000026', '999 000 0018'])('%s is synthetic', (text) => {
    expect(normaliseNhsNumber(text, true)).toBe(text.replaceAll(' ', ''));
    expect(normaliseNhsNumber(text, false)).toBeUndefined();
  });

  test('outside the synthetic range are always accepted', () => {
    expect(normaliseNhsNumber('943 476 5919', false)).toBe('9434765919');
  });

  test('whose check digit would be 10 are rejected with every digit', () => {
    const nineDigits = fc.stringMatching(/^[0-9]{9}$/).filter((nine) => withNhsCheckDigit(nine) === undefined);
    fc.assert(
      fc.property(nineDigits, fc.integer({ min: 0, max: 9 }), (nine, check) => {
        expect(normaliseNhsNumber(`${nine}${check}`, true)).toBeUndefined();
      }),
    );
  });

  test('with one wrong digit or two swapped neighbours are always rejected', () => {
    fc.assert(
      fc.property(
        nhsNumbers.chain((number) => fc.tuple(fc.constant(number), withOneDigitChanged(number))),
        ([number, changed]) => {
          expect(normaliseNhsNumber(changed, true)).toBeUndefined();
          for (const swapped of withNeighboursSwapped(number)) {
            expect(normaliseNhsNumber(swapped, true)).toBeUndefined();
          }
        },
      ),
    );
  });

  test.each([
    '',
    '          ',
    '0000000000',
    '999000001',
    '99900000180',
    ' 9990000018',
    '9990000018 ',
    '999  000 0018',
    '999-000-0018',
    '999\t000\t0018',
    '999\u00a0000\u00a00018',
    '9990000018\n',
    '999000001e',
    '+999000018',
    '٩٩٩٠٠٠٠٠١٨',
  ])('must not have the form %j', (text) => {
    expect(normaliseNhsNumber(text, true)).toBeUndefined();
  });
});
