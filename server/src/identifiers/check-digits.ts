import type { IdentifierCheck } from '@crossward/connector-kit';

const digitsOf = (text: string): number[] => Array.from(text, Number);

function weighted(digits: readonly number[], weights: readonly number[]): number {
  return weights.reduce((sum, weight, index) => sum + weight * (digits[index] ?? 0), 0);
}

/** Whether the digit after the weighted ones is 11 less their sum by modulus 11. A number that would need a 10 is not used. */
function isModulus11(digits: readonly number[], weights: readonly number[]): boolean {
  return (11 - (weighted(digits, weights) % 11)) % 11 === digits[weights.length];
}

const twice = [0, 2, 4, 6, 8, 1, 3, 5, 7, 9];

/** ISO/IEC 7812-1, annex B. */
function isLuhn(digits: string): boolean {
  const sum = digitsOf(digits)
    .toReversed()
    .reduce((total, digit, index) => total + ((index % 2 === 1 ? twice[digit] : digit) ?? 0), 0);
  return sum % 10 === 0;
}

function isDate(year: number, month: number, day: number): boolean {
  const date = new Date(Date.UTC(year, month - 1, day));
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
}

/** Whether a text begins with DDMMYY. Without the century, 29 February is a date in year 00. */
function beginsWithDate(value: string, century = 2000): boolean {
  const [day = 0, month = 0, year = 0] = [0, 2, 4].map((at) => Number(value.slice(at, at + 2)));
  return isDate(century + year, month, day);
}

/** In the group of the symmetries of a pentagon. */
function dihedral(one: number, other: number): number {
  const turned = one < 5 ? (one + other) % 5 : (one - other + 10) % 5;
  return one < 5 === other < 5 ? turned : 5 + turned;
}

const permutation = [1, 5, 7, 6, 2, 8, 3, 0, 9, 4];

/** J. Verhoeff, Error Detecting Decimal Codes (1969). */
function isVerhoeff(digits: string): boolean {
  const sum = digitsOf(digits)
    .toReversed()
    .reduce((total, digit, index) => {
      let moved = digit;
      for (let times = 0; times < index % 8; times++) moved = permutation[moved] ?? 0;
      return dihedral(total, moved);
    }, 0);
  return sum === 0;
}

const hetuCharacters = '0123456789ABCDEFHJKLMNPRSTUVWXY';

/** DDMMYY, the sign of the century, three digits from 002 on, and their remainder by 31: https://dvv.fi/en/personal-identity-code */
function isHetu(value: string): boolean {
  const [date, sign = '', individual, check = ''] = [
    [0, 6],
    [6, 7],
    [7, 10],
    [10, 11],
  ].map(([from, to]) => value.slice(from, to));
  const century = sign === '+' ? 1800 : /[-U-Y]/.test(sign) ? 1900 : 2000;
  const isNumber = Number(individual) >= 2 && hetuCharacters.indexOf(check) === Number(`${date}${individual}`) % 31;
  return isNumber && beginsWithDate(value, century);
}

/**
 * The last digit is the century. The ninth is not checked: Registers Iceland gives numbers without a check digit since 18 February
 * 2026. Companies, with 40 added to the day, are no patients.
 */
function isKennitala(value: string): boolean {
  const century = { 8: 1800, 9: 1900, 0: 2000 }[value.slice(-1)];
  return century !== undefined && beginsWithDate(value, century);
}

/** The letter as two digits, then as by Luhn from the left. */
function isKvnr(value: string): boolean {
  const number = String(value.charCodeAt(0) - 64).padStart(2, '0') + value.slice(1, -1);
  const sum = digitsOf(number).reduce(
    (total, digit, index) => total + ((index % 2 === 1 ? twice[digit] : digit) ?? 0),
    0,
  );
  return sum % 10 === Number(value.slice(-1));
}

/** Two digits: 97 less the remainder of the others by 97. Corsica's 2A and 2B count as 19 and 18. */
function isNir(value: string): boolean {
  const number = Number(value.slice(0, 13).replace('2A', '19').replace('2B', '18'));
  return 97 - (number % 97) === Number(value.slice(13));
}

const nhiCharacters = 'ABCDEFGHJKLMNPQRSTUVWXYZ';

/** HISO 10046:2024. Numbers from July 2026 on end with two letters, of which the last is the remainder by 23. */
function isNhi(value: string): boolean {
  const digits = Array.from(value, (it) => (/\d/.test(it) ? Number(it) : nhiCharacters.indexOf(it) + 1));
  const sum = weighted(digits, [7, 6, 5, 4, 3, 2]);
  if (/[A-Z]$/.test(value)) return 23 - (sum % 23) === digits[6];
  return sum % 11 !== 0 && (11 - (sum % 11)) % 10 === digits[6];
}

const oddPlaces = [1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23];

/** Decreto ministeriale 23 December 1976. Where two people would have the same code, letters stand for digits. */
function isCodiceFiscale(value: string): boolean {
  const places = Array.from(value.slice(0, -1), (it) => (/\d/.test(it) ? Number(it) : it.charCodeAt(0) - 65));
  const sum = places.reduce((total, place, index) => total + ((index % 2 === 0 ? oddPlaces[place] : place) ?? 0), 0);
  const [year, day] = [value.slice(6, 8), value.slice(9, 11)].map((it) => Number(plainDigits(it)));
  const month = 'ABCDEHLMPRST'.indexOf(value.charAt(8)) + 1;
  // Women have 40 added to the day. The code has no century.
  const isExisting = isDate(2000 + (year ?? 0), month, (day ?? 0) % 40);
  return isExisting && String.fromCharCode(65 + (sum % 26)) === value.slice(-1);
}

function plainDigits(text: string): string {
  return text.replaceAll(/[A-Z]/g, (it) => String('LMNPQRSTUV'.indexOf(it)));
}

/** Of Spain: the remainder of the number by 23. A NIE begins with X, Y or Z for 0, 1 or 2. */
function isDni(value: string): boolean {
  const number = Number(value.slice(0, -1).replace(/^[XYZ]/, (it) => String('XYZ'.indexOf(it))));
  return 'TRWAGMYFPDXBNJZSQVHLCKE'.charAt(number % 23) === value.slice(-1);
}

/** Of Estonia and Lithuania: a second round of weights if the first leaves 10, and 0 if both do. */
function isIsikukood(value: string): boolean {
  const digits = digitsOf(value);
  const first = weighted(digits, [1, 2, 3, 4, 5, 6, 7, 8, 9, 1]) % 11;
  const second = weighted(digits, [3, 4, 5, 6, 7, 8, 9, 1, 2, 3]) % 11;
  return (first < 10 ? first : second % 10) === digits[10];
}

/** https://en.wikipedia.org/wiki/Burgerservicenummer, with a last weight of -1. The sum of nothing but zeros would pass. */
function isElfproef(value: string): boolean {
  return weighted(digitsOf(value), [9, 8, 7, 6, 5, 4, 3, 2, -1]) % 11 === 0 && !/^0+$/.test(value);
}

const isNhsLike = (value: string) => isModulus11(digitsOf(value), [10, 9, 8, 7, 6, 5, 4, 3, 2]);

/** Whether a value of the right form has the right check digits, and the date in it exists. */
export const checks: Readonly<Record<IdentifierCheck, (value: string) => boolean>> = {
  none: () => true,
  luhn: isLuhn,
  // NPI: as if a card number began with it.
  luhn_80840: (value) => isLuhn(`80840${value}`),
  mod11_10to2: isNhsLike,
  mod11_orgnr: (value) => isModulus11(digitsOf(value), [3, 2, 7, 6, 5, 4, 3, 2]),
  mod11_bc_phn: (value) => isModulus11(digitsOf(value.slice(1)), [2, 4, 8, 5, 10, 9, 7, 3]),
  mod31_hetu: isHetu,
  mod97_nir: isNir,
  // Real numbers since 2007, and those of test people, fail modulus 11. An eCPR begins with the date as well.
  cpr: (value) => beginsWithDate(value),
  chi: (value) => beginsWithDate(value) && isNhsLike(value),
  kennitala: isKennitala,
  kvnr: isKvnr,
  elfproef: isElfproef,
  nhi: isNhi,
  codice_fiscale: isCodiceFiscale,
  dni23: isDni,
  isikukood: isIsikukood,
  medicare_au: (value) => weighted(digitsOf(value), [1, 3, 7, 9, 1, 3, 7, 9]) % 10 === Number(value[8]),
  verhoeff: isVerhoeff,
  // GS1 General Specifications, 7.9.
  gs1: (value) =>
    weighted(
      digitsOf(value).toReversed(),
      Array.from(value, (_, index) => (index % 2 === 0 ? 1 : 3)),
    ) %
      10 ===
    0,
};
