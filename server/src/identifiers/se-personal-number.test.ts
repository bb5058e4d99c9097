import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { swedishNumbers, withLuhnCheckDigit, withNeighboursSwapped, withOneDigitChanged } from './arbitraries.ts';
import { normaliseSePersonalNumber } from './se-personal-number.ts';

const today = new Date('2026-06-15T12:00:00Z');
const normalise = (text: string) => normaliseSePersonalNumber(text, today);

/** Ten digits, with a computed check digit. */
const short = (date: string, separator: string, serial = '238') =>
  `${date}${separator}${withLuhnCheckDigit(date + serial).slice(6)}`;

describe('Swedish personal numbers', () => {
  test('with twelve digits, with or without a hyphen, have twelve digits as the normal form', () => {
    fc.assert(
      fc.property(swedishNumbers, (number) => {
        expect(normalise(number)).toBe(number);
        expect(normalise(`${number.slice(0, 8)}-${number.slice(8)}`)).toBe(number);
      }),
    );
  });

  test('with ten digits and the statutory separator mean the same person', () => {
    fc.assert(
      fc.property(swedishNumbers, (number) => {
        const turnsHundred = 2026 - Number(number.slice(0, 4)) >= 100;
        const text = `${number.slice(2, 8)}${turnsHundred ? '+' : '-'}${number.slice(8)}`;
        expect(normalise(text)).toBe(number);
      }),
    );
  });

  test.each(['191212121212', '197010632391', '196408233234', '189001019802'])('%s is accepted', (number) => {
    expect(normalise(number)).toBe(number);
  });

  test.each([
    ['without a separator', '1212121212', '201212121212'],
    ['with a hyphen', '121212-1212', '201212121212'],
    ['with a plus', '121212+1212', '191212121212'],
    ['born earlier this year', short('260614', '-'), `20${short('260614', '')}`],
    ['whose hundredth birthday is later this year', short('260616', '-'), `19${short('260616', '')}`],
    ['with a plus in the year of the hundredth birthday', short('260616', '+'), `19${short('260616', '')}`],
    ['with a plus and a year before 1900', short('270101', '+'), `18${short('270101', '')}`],
    ['of a coordination number', '701063-2391', '197010632391'],
  ])('with ten digits %s', (_, text, expected) => {
    expect(normalise(text)).toBe(expected);
  });

  test('depend on the date in Sweden, not in UTC', () => {
    const bornToday = `20${short('260616', '')}`;
    expect(normaliseSePersonalNumber(bornToday, new Date('2026-06-15T21:59:00Z'))).toBeUndefined();
    expect(normaliseSePersonalNumber(bornToday, new Date('2026-06-15T22:01:00Z'))).toBe(bornToday);
  });

  test('with twelve digits and a contradicting plus are rejected', () => {
    expect(normalise('19121212+1212')).toBe('191212121212');
    expect(normalise('20121212+1212')).toBeUndefined();
  });

  test.each([
    ['month and day', '150060'],
    ['month', '150072'],
    ['month, on the last day', '150091'],
    ['day', '150360'],
  ])('of coordination numbers may lack the %s', (_, date) => {
    const number = `19${short(date, '')}`;
    expect(normalise(number)).toBe(number);
    expect(normalise(`19${withLuhnCheckDigit(`${date}000`)}`)).toBeUndefined();
    const wrong = `${number.slice(0, 11)}${(Number(number[11]) + 1) % 10}`;
    expect(normalise(wrong)).toBeUndefined();
  });

  test.each([
    ['impossible day', short('810230', '-')],
    ['impossible coordination day', short('810290', '-')],
    ['impossible month', short('811301', '-')],
    ['month 00 of a personnummer', short('810001', '-')],
    ['day beyond coordination numbers', short('810092', '-')],
    ['29 February outside a leap year', short('000229', '+')],
    ['birth date in the future', `20${short('260616', '')}`],
    ['far future', `21${short('260616', '')}`],
    ['before 1800', `17${short('990101', '')}`],
    ['serial number 000', short('810101', '-', '000')],
    ['interim number', '810101-T230'],
    ['space as separator', '121212 1212'],
    ['separator elsewhere', '1912-12121212'],
    ['eleven digits', '91212121212'],
    ['line feed at the end', '191212121212\n'],
    ['digits of another script', '١٩١٢١٢١٢١٢١٢'],
    ['empty', ''],
  ])('%s is rejected', (_, text) => {
    expect(normalise(text)).toBeUndefined();
  });

  // The check digit does not cover the century, and the Luhn algorithm does not detect that 09 and 90 are swapped.
  test('with one wrong digit or two swapped neighbours after the century are rejected', () => {
    fc.assert(
      fc.property(
        swedishNumbers.chain((number) => fc.tuple(fc.constant(number), withOneDigitChanged(number, 2))),
        ([number, changed]) => {
          expect(normalise(changed)).toBeUndefined();
          for (const swapped of withNeighboursSwapped(number, 2)) {
            const at = [...number].findIndex((digit, index) => digit !== swapped[index]);
            if (['09', '90'].includes(number.slice(at, at + 2))) continue;
            expect(normalise(swapped)).toBeUndefined();
          }
        },
      ),
    );
  });
});
