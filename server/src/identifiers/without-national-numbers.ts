import { hasNationalNumber } from './number-in-text.ts';

/** Digits in the groups in which national numbers are written: Norway, Sweden and England. */
const written =
  /(?<![0-9])(?:[0-9]{6} ?[0-9]{5}|(?:[0-9]{2})?[0-9]{6}[-+ ]?[0-9]{4}|[0-9]{3}([ -]?)[0-9]{3}\1[0-9]{4})(?![0-9])/g;

/** Swedish reserve numbers with a letter, perhaps without the century. */
const reserveNumbers = /(?<![0-9A-Za-z])(?:[0-9]{2})?[0-9]{6}[- ]?[PTF][0-9]{3}(?![0-9A-Za-z])/gi;

/** The text with "…" in place of each number that passes the check of a national number, and of each reserve number. */
export function withoutNationalNumbers(text: string): string {
  return text
    .replaceAll(written, (number) => (hasNationalNumber(number) ? '…' : number))
    .replaceAll(reserveNumbers, '…');
}
