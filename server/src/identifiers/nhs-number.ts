import { validate } from 'nhs-number-validator';

/**
 * Checks an NHS number and returns its 10 digits, or `undefined`. Single spaces between digits are accepted, as in the
 * usual 3-3-4 form. The check digit is by modulus 11, and a number whose check digit would be 10 is not used:
 * https://www.datadictionary.nhs.uk/attributes/nhs_number.html
 *
 * Numbers from 999 000 0000 are never assigned to real people and are accepted only with `synthetic`:
 * https://github.com/GIG-Cymru-NHS-Wales/nhs-number-using-rust (by NHS Wales)
 */
export function normaliseNhsNumber(text: string, synthetic: boolean): string | undefined {
  // Checked first, because the library accepts white space and signs as digits.
  if (!/^[0-9](?: ?[0-9]){9}$/.test(text)) return undefined;
  const digits = text.replaceAll(' ', '');
  // Ten zeros pass modulus 11 but are outside every range in use.
  if (digits === '0000000000' || !validate(digits)) return undefined;
  return synthetic || !digits.startsWith('999') ? digits : undefined;
}
