import { hasNationalNumber } from './number-in-text.ts';

/** Digits in the groups in which national numbers are written: Norway, Sweden and England. */
const written =
  /(?<![0-9])(?:[0-9]{6} ?[0-9]{5}|(?:[0-9]{2})?[0-9]{6}[-+ ]?[0-9]{4}|[0-9]{3}([ -]?)[0-9]{3}\1[0-9]{4})(?![0-9])/g;

/** The text with "…" in place of each number that passes the check of a national number. */
export function withoutNationalNumbers(text: string): string {
  return text.replaceAll(written, (number) => (hasNationalNumber(number) ? '…' : number));
}
