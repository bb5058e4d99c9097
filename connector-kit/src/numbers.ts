import { valuePattern } from './identifier-patterns.ts';
import { identifierType } from './identifier-types.ts';
import type { Identifier } from './identifiers.ts';

/** The type of a number that others than the EHR have assigned: see `IdentifierType`. */
export type NumberType = string;

/**
 * All usual spellings of a number, its normal form first: with and without the separators that people write, and a Swedish
 * number without its century, too. An EHR that compares text has to be searched for all of them. Two people can share a
 * spelling without a century, so compare what is found by `numberIn`.
 */
export function spellingsOf({ type, value }: Identifier<NumberType>, today: Date = new Date()): readonly string[] {
  const { groups = [], caseMatters } = identifierType(type) ?? {};
  const written =
    type === 'se_personal_number'
      ? [...grouped(value, groups, ['-', ' ']), ...withoutCentury(value, today)]
      : grouped(value, groups);
  return [...new Set(caseMatters ? written : [...written, ...written.map((it) => it.toLowerCase())])];
}

/** Those of `spellingsOf` that belong to this number only: a Swedish number has its century. */
export function completeSpellingsOf(number: Identifier<NumberType>): readonly string[] {
  return spellingsOf(number).filter(
    (it) => number.type !== 'se_personal_number' || bare(it.replace('+', '-')).length === 12,
  );
}

/** Folkbokföringslagen (1991:481) section 18: `-` becomes `+` in the year in which the person turns 100. */
function withoutCentury(value: string, today: Date): readonly string[] {
  if (!/^(18|19|20)/.test(value)) return [];
  const isCentenarian = dateInSweden(today).slice(0, 4) >= String(Number(value.slice(0, 4)) + 100);
  return grouped(value.slice(2), [6, 4], ['-', ' ', ...(isCentenarian ? ['+'] : [])]);
}

/** The value as it is, and with each separator between its groups. */
function grouped(value: string, groups: readonly number[], separators: readonly string[] = [' ', '-']): string[] {
  if (value.length !== groups.reduce((sum, length) => sum + length, 0)) return [value];
  const starts = groups.map((_, index) => groups.slice(0, index).reduce((sum, length) => sum + length, 0));
  const parts = groups.map((length, index) => value.substring(starts[index] ?? 0, (starts[index] ?? 0) + length));
  return [value, ...separators.map((it) => parts.join(it))];
}

/**
 * The normal form of a number as somebody wrote it into the EHR. `undefined`: it is no number of this type. Check digits are not
 * checked.
 *
 * @param born the birth date in the record, which says in which century ten digits of a Swedish number begin. Without one, `+`
 *   means that the person has turned 100, or turns 100 this year.
 * @param today decides the century without a birth date
 */
export function numberIn(
  type: NumberType,
  text: string | null | undefined,
  born?: string | null,
  today: Date = new Date(),
): string | undefined {
  const { pattern, caseMatters } = identifierType(type) ?? {};
  if (typeof text !== 'string' || pattern === undefined) return undefined;
  const normalised = text.normalize('NFKC').replaceAll(/\p{Pd}|\u2212/gu, '-');
  const written = caseMatters ? normalised : normalised.toUpperCase();
  if (type === 'se_personal_number') return swedishNumber(written, born, today);
  const { fits, hasHyphen } = valuePattern(pattern);
  const value = hasHyphen ? written.replaceAll(hidden, '') : bare(written);
  return fits(value) ? value : undefined;
}

/** White space, and characters that show nothing. */
const hidden = /[\s\p{Default_Ignorable_Code_Point}]/gu;

function bare(text: string): string {
  return text.replaceAll(hidden, '').replaceAll(/[-.]/g, '');
}

/** A reserve number can have a letter in place of the first of its last four digits. */
function swedishNumber(written: string, born: string | null | undefined, today: Date): string | undefined {
  const value = bare(written.replace('+', '-'));
  if (/^\d{8}[0-9PTF]\d{3}$/.test(value)) return value;
  if (!/^\d{6}[0-9PTF]\d{3}$/.test(value)) return undefined;
  const short = value.slice(0, 2);
  const century = born?.slice(2, 4) === short ? born.slice(0, 2) : centuryBy(value, written.includes('+'), today);
  return century + value;
}

/** Of the latest year at least 100 years ago with `+`, otherwise of the latest date that is not in the future. */
function centuryBy(value: string, isCentenarian: boolean, today: Date): string {
  const now = dateInSweden(today);
  const latest = Number(now.slice(0, 4)) - (isCentenarian ? 100 : 0);
  const year = latest - ((latest - Number(value.slice(0, 2))) % 100);
  // Coordination numbers have 60 added to the day.
  const day = String(Number(value.slice(4, 6)) % 60).padStart(2, '0');
  const isToCome = `${year}-${value.slice(2, 4)}-${day}` > now;
  return String(isToCome ? year - 100 : year).slice(0, 2);
}

const swedishDate = new Intl.DateTimeFormat('sv-SE', { timeZone: 'Europe/Stockholm', dateStyle: 'short' });

/** `YYYY-MM-DD` */
function dateInSweden(instant: Date): string {
  return swedishDate.format(instant);
}
