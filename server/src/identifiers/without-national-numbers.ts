import { hasNationalNumber } from './number-in-text.ts';

/** What people and programs write between the groups of a number: spaces of all kinds, dots, hyphens and dashes. */
const gap = String.raw`[\p{Zs}\p{Pd}.·+/_\u2212]?`;
const groups = [
  // Norway: DDMMYY NNNNN, also with the groups of the date and of the rest apart.
  String.raw`\d{2}G\d{2}G\d{2}G\d{3}G\d{2}`,
  // Sweden: (YY)YYMMDD-NNNN
  String.raw`(?:\d{2})?\d{2}G\d{2}G\d{2}G\d{4}`,
  // England: NNN NNN NNNN, twice the same sign between: telephone numbers have other groups.
  String.raw`\d{3}(G)\d{3}\1\d{4}`,
  // Each digit apart.
  String.raw`\d(?:S\d){9,11}`,
];
const written = new RegExp(
  `(?<!\\d)(?:${groups.join('|').replaceAll('G', gap).replaceAll('S', gap.slice(0, -1))})(?!\\d)`,
  'gu',
);

/** Swedish reserve numbers with a letter, perhaps without the century. */
const reserveNumbers = /(?<![0-9A-Za-z])(?:[0-9]{2})?[0-9]{6}[- ]?[PTF][0-9]{3}(?![0-9A-Za-z])/gi;

/** The text with "…" in place of each number that passes the check of a national number, and of each reserve number. */
export function withoutNationalNumbers(text: string): string {
  return text
    .replaceAll(written, (number) => (hasNationalNumber(number) ? '…' : number))
    .replaceAll(reserveNumbers, '…');
}
