import { type IdentifierType, identifierTypes, valuePattern } from '@crossward/connector-kit';
import { hasNationalNumber } from './number-in-text.ts';
import { hasOwnRule, numberOfType } from './value-rules.ts';

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

/** A number of another type as people write it in a text: by itself, perhaps with something between its groups. */
const asWritten = new Map<IdentifierType, RegExp>();

function writtenAs(type: IdentifierType): RegExp {
  const known = asWritten.get(type) ?? new RegExp(expressionOf(type), 'giu');
  asWritten.set(type, known);
  return known;
}

function expressionOf({ pattern, groups = [] }: IdentifierType): string {
  const ends = groups.slice(0, -1).map((_, index) => groups.slice(0, index + 1).reduce((sum, it) => sum + it, 0));
  const alternatives = valuePattern(pattern).alternatives.map((places) => {
    let at = 0;
    return places
      .map(({ characters, hasHyphen, least, most }) => {
        const one = hasHyphen ? String.raw`(?:${characters}|[\p{Pd}\u2212])` : characters;
        if (groups.length === 0) return `${one}{${least},${most}}`;
        return Array.from({ length: most }, () => (ends.includes(++at) ? one + gap : one)).join('');
      })
      .join('');
  });
  return String.raw`(?<![\p{L}\p{N}])(?:${alternatives.join('|')})(?![\p{L}\p{N}])`;
}

/**
 * The text with "…" in place of each number that passes the check of a national number, and of each reserve number.
 *
 * @param least numbers that are shorter stay, unless their type has a rule of its own. Default: none
 */
export function withoutNationalNumbers(text: string, least = 0): string {
  return identifierTypes()
    .filter(({ id, national }) => national && !hasOwnRule(id))
    .reduce(
      (rest, type) =>
        rest.replaceAll(writtenAs(type), (number) => {
          const value = numberOfType(type, number);
          return value !== undefined && value.length >= least ? '…' : number;
        }),
      text,
    )
    .replaceAll(written, (number) => (hasNationalNumber(number) ? '…' : number))
    .replaceAll(reserveNumbers, '…');
}
