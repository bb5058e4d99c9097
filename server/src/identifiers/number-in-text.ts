import { normaliseNhsNumber } from './nhs-number.ts';
import { normaliseNoPersonalNumber } from './no-personal-number.ts';
import { normaliseSePersonalNumber } from './se-personal-number.ts';
import { normaliseSeReserveNumber } from './se-reserve-number.ts';

/** National numbers by the number of their digits, the shortest first. */
const checks = [
  { length: 10, passes: (digits: string) => normaliseNhsNumber(digits, true) !== undefined },
  { length: 10, passes: (digits: string) => normaliseSePersonalNumber(digits) !== undefined },
  { length: 11, passes: (digits: string) => normaliseNoPersonalNumber(digits, true) !== undefined },
  { length: 12, passes: (digits: string) => normaliseSePersonalNumber(digits) !== undefined },
  { length: 12, passes: (digits: string) => normaliseSeReserveNumber(digits) !== undefined },
] as const;

const reserveNumberWithLetter = /[0-9]{8}[PTF][0-9]{3}/i;

/**
 * Whether digits in a text could be a national number: without its separators, a part of a run of digits passes the check of
 * one, or it has the form of a Swedish reserve number. Numbers of synthetic people count too.
 */
export function hasNationalNumber(text: string): boolean {
  const joined = text.replaceAll(/[^0-9A-Za-z]/g, '');
  if (reserveNumberWithLetter.test(joined)) return true;
  const runs = joined.match(/[0-9]{10,}/g) ?? [];
  return runs.some((run) =>
    checks.some(({ length, passes }) =>
      Array.from({ length: Math.max(0, run.length - length + 1) }, (_, start) => run.slice(start, start + length)).some(
        passes,
      ),
    ),
  );
}
