import type { Identifier, PatientIdentifierType, ResourceIdentifierType } from './identifiers.ts';

/** Types of numbers that others than the EHR have assigned. */
export type NumberType = Exclude<PatientIdentifierType | ResourceIdentifierType, 'emr_id'>;

/**
 * All usual spellings of a number, its normal form first: with and without the separators that people write, and a Swedish
 * number without its century, too. An EHR that compares text has to be searched for all of them. Two people can share a
 * spelling without a century, so compare what is found by `numberIn`.
 */
export function spellingsOf({ type, value }: Identifier<NumberType>, today: Date = new Date()): readonly string[] {
  return [...new Set(spellings[type](value, today))];
}

/** Those of `spellingsOf` that belong to this number only: a Swedish number has its century. */
export function completeSpellingsOf(number: Identifier<NumberType>): readonly string[] {
  return spellingsOf(number).filter(
    (it) => number.type !== 'se_personal_number' || bare(it.replace('+', '-')).length === 12,
  );
}

const spellings: Readonly<Record<NumberType, (value: string, today: Date) => readonly string[]>> = {
  no_personal_number: (value) => split(value, 6),
  se_personal_number: (value, today) => {
    const written = [...split(value, 8, ['-', ' ']), ...withoutCentury(value, today)];
    return [...written, ...written.map((it) => it.toLowerCase())];
  },
  nhs_number: (value) => split(value, 3, [' ', '-'], 6),
  hsa_id: (value) => [value, value.toLowerCase()],
};

/** Folkbokföringslagen (1991:481) section 18: `-` becomes `+` in the year in which the person turns 100. */
function withoutCentury(value: string, today: Date): readonly string[] {
  if (!/^(18|19|20)/.test(value)) return [];
  const isCentenarian = dateInSweden(today).slice(0, 4) >= String(Number(value.slice(0, 4)) + 100);
  return split(value.slice(2), 6, ['-', ' ', ...(isCentenarian ? ['+'] : [])]);
}

/** The text as it is, and with each separator in front of the character at `at`, and at `second`. */
function split(text: string, at: number, separators: readonly string[] = [' ', '-'], second = text.length): string[] {
  const parts = [text.slice(0, at), text.slice(at, second), text.slice(second)].filter((it) => it !== '');
  return [text, ...separators.map((it) => parts.join(it))];
}

const forms: Readonly<Record<Exclude<NumberType, 'se_personal_number'>, RegExp>> = {
  no_personal_number: /^\d{11}$/,
  nhs_number: /^\d{10}$/,
  hsa_id: /^SE\d{10}-[0-9A-Z]{1,18}$/,
};

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
  if (typeof text !== 'string') return undefined;
  const written = text
    .normalize('NFKC')
    .replaceAll(/\p{Pd}|\u2212/gu, '-')
    .toUpperCase();
  if (type === 'se_personal_number') return swedishNumber(written, born, today);
  const value = type === 'hsa_id' ? written.replaceAll(hidden, '') : bare(written);
  return forms[type].test(value) ? value : undefined;
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
