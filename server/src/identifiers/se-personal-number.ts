import personnummerModule from 'personnummer';
import { hasLuhnCheckDigit } from './luhn.ts';

// At run time the package exports the class itself, but its types describe an object that contains the class.
const Personnummer = personnummerModule as unknown as typeof personnummerModule.default;

// Skatteverket: the century in stored numbers is 18, 19 or 20; the oldest person ever registered was born in 1840.
const earliestYear = 1800;

/**
 * Checks a Swedish personnummer or coordination number (day + 60), with 10 or 12 digits and an optional `-` or `+` before
 * the last four, and returns its 12 digits, `YYYYMMDDNNNN`, or `undefined`. Interim numbers (with a letter) are rejected,
 * and so is a birth date that is yet to come.
 *
 * Ten digits do not contain the century. Folkbokföringslagen (1991:481) section 18: `-` becomes `+` in the year in which
 * the person turns 100. With `+`, the birth year is the latest one at least 100 years ago; otherwise the birth date is
 * the latest one that is not in the future. A `+` that contradicts twelve digits is rejected.
 *
 * Coordination numbers may have month `00` or day `60` when the birth date could not be established. Skatteverket's open
 * data holds such numbers ("Testsamordningsnummer"); the library rejects them:
 * https://www7.skatteverket.se/portal/apier-och-oppna-data/utvecklarportalen/oppetdata/
 *
 * There is no switch for synthetic people: the numbers that Skatteverket sets aside for tests are lists, with serial
 * numbers that are ordinary ones of their birth dates, so they cannot be told from real numbers by their form.
 *
 * @param today decides the century of ten digits, and what lies in the future; the date in Sweden counts
 */
export function normaliseSePersonalNumber(text: string, today: Date = new Date()): string | undefined {
  const [, century, shortDate, separator, serial] = /^([0-9]{2})?([0-9]{6})([-+])?([0-9]{4})$/.exec(text) ?? [];
  if (shortDate === undefined || serial === undefined) return undefined;

  const now = dateInSweden(today);
  const isCentenarian = separator === '+';
  const date = century === undefined ? withCentury(shortDate, isCentenarian, now) : century + shortDate;

  const year = Number(date.slice(0, 4));
  if (year < earliestYear || birthDate(date) > now) return undefined;
  if (isCentenarian && Number(now.slice(0, 4)) - year < 100) return undefined;

  const digits = date + serial;
  return Personnummer.valid(digits) || isCoordinationNumberWithoutFullDate(digits) ? digits : undefined;
}

function withCentury(shortDate: string, isCentenarian: boolean, now: string): string {
  const latestYear = Number(now.slice(0, 4)) - (isCentenarian ? 100 : 0);
  const year = latestYear - ((latestYear - Number(shortDate.slice(0, 2))) % 100);
  const date = `${year}${shortDate.slice(2)}`;
  return birthDate(date) > now ? `${year - 100}${shortDate.slice(2)}` : date;
}

/** The earliest possible birth date for the digits, comparable as text. */
function birthDate(date: string): string {
  const month = date.slice(4, 6);
  const day = Number(date.slice(6, 8));
  const dayOfMonth = Math.max(day >= 60 ? day - 60 : day, 1);
  return `${date.slice(0, 4)}${month === '00' ? '01' : month}${String(dayOfMonth).padStart(2, '0')}`;
}

function isCoordinationNumberWithoutFullDate(digits: string): boolean {
  const month = Number(digits.slice(4, 6));
  const day = Number(digits.slice(6, 8)) - 60;
  const isWithoutFullDate = (month === 0 && day >= 0 && day <= 31) || (month >= 1 && month <= 12 && day === 0);
  return isWithoutFullDate && digits.slice(8, 11) !== '000' && hasLuhnCheckDigit(digits.slice(2));
}

const swedishDate = new Intl.DateTimeFormat('sv-SE', {
  timeZone: 'Europe/Stockholm',
  year: 'numeric',
  month: '2-digit',
  day: '2-digit',
});

function dateInSweden(instant: Date): string {
  return swedishDate.format(instant).replaceAll('-', '');
}
