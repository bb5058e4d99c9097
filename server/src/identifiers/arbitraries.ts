import fc from 'fast-check';

/** Numbers for tests. Their check digits are computed here, independently of the tested libraries. */

export function digits(length: number): fc.Arbitrary<string> {
  return fc.array(fc.integer({ min: 0, max: 9 }), { minLength: length, maxLength: length }).map((all) => all.join(''));
}

function weightedSum(number: string, weights: readonly number[]): number {
  return weights.reduce((sum, weight, index) => sum + weight * Number(number[index]), 0);
}

function modulus11(number: string, weights: readonly number[]): number | undefined {
  const digit = (11 - (weightedSum(number, weights) % 11)) % 11;
  return digit === 10 ? undefined : digit;
}

function withNorwegianCheckDigits(nine: string): string | undefined {
  const first = modulus11(nine, [3, 7, 6, 1, 8, 9, 4, 5, 2]);
  if (first === undefined) return undefined;
  const second = modulus11(`${nine}${first}`, [5, 4, 3, 2, 7, 6, 5, 4, 3, 2]);
  return second === undefined ? undefined : `${nine}${first}${second}`;
}

export function withNhsCheckDigit(nine: string): string | undefined {
  const check = modulus11(nine, [10, 9, 8, 7, 6, 5, 4, 3, 2]);
  return check === undefined ? undefined : `${nine}${check}`;
}

export function withLuhnCheckDigit(nine: string): string {
  const sum = [...nine].reduce((total, digit, index) => {
    const product = Number(digit) * (index % 2 === 0 ? 2 : 1);
    return total + Math.floor(product / 10) + (product % 10);
  }, 0);
  return `${nine}${(10 - (sum % 10)) % 10}`;
}

const twoDigits = (value: number) => String(value).padStart(2, '0');
const birthDates = fc.date({
  min: new Date('1900-01-01T00:00:00Z'),
  max: new Date('2025-12-31T00:00:00Z'),
  noInvalidDate: true,
});

/** With `monthOffset` 0, the numbers are those of real people. */
export function norwegianNumbers(monthOffset: number): fc.Arbitrary<string> {
  return fc
    .tuple(birthDates, fc.boolean(), digits(3))
    .map(([date, isDNumber, individual]) => {
      const day = twoDigits(date.getUTCDate() + (isDNumber ? 40 : 0));
      const month = twoDigits(date.getUTCMonth() + 1 + monthOffset);
      return withNorwegianCheckDigits(`${day}${month}${twoDigits(date.getUTCFullYear() % 100)}${individual}`);
    })
    .filter((number) => number !== undefined);
}

/** Twelve digits. */
export const swedishNumbers: fc.Arbitrary<string> = fc
  .tuple(birthDates, fc.boolean(), fc.integer({ min: 1, max: 999 }))
  .map(([date, isCoordination, serial]) => {
    const year = String(date.getUTCFullYear());
    const day = twoDigits(date.getUTCDate() + (isCoordination ? 60 : 0));
    const nine = `${year.slice(2)}${twoDigits(date.getUTCMonth() + 1)}${day}${String(serial).padStart(3, '0')}`;
    return year.slice(0, 2) + withLuhnCheckDigit(nine);
  });

export const nhsNumbers: fc.Arbitrary<string> = digits(9)
  .filter((nine) => nine !== '000000000')
  .map(withNhsCheckDigit)
  .filter((number) => number !== undefined);

export const hsaIds: fc.Arbitrary<string> = fc
  .tuple(digits(10), fc.stringMatching(/^[0-9A-Z]{1,18}$/))
  .map(([organisation, suffix]) => `SE${organisation}-${suffix}`);

export function withOneDigitChanged(number: string, from = 0): fc.Arbitrary<string> {
  return fc
    .tuple(fc.integer({ min: from, max: number.length - 1 }), fc.integer({ min: 1, max: 9 }))
    .map(([index, step]) => {
      const digit = (Number(number[index]) + step) % 10;
      return `${number.slice(0, index)}${digit}${number.slice(index + 1)}`;
    });
}

/** Every text that results from a swap of two different neighbours. */
export function withNeighboursSwapped(number: string, from = 0): string[] {
  return Array.from(
    { length: number.length - 1 - from },
    (_, offset) =>
      number.slice(0, from + offset) +
      number.charAt(from + offset + 1) +
      number.charAt(from + offset) +
      number.slice(from + offset + 2),
  ).filter((swapped) => swapped !== number);
}
