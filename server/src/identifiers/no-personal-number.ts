import { idnr } from '@navikt/fnrvalidator';

/**
 * Checks a Norwegian fødselsnummer or D-number (day + 40) and returns its 11 digits, or `undefined`.
 *
 * Check digits: numbers assigned from 2032 also allow the remainders 1 to 3 for the first check digit. A number does not
 * show when it was assigned, so the wider rule applies to all. The second check digit still detects every single wrong
 * digit and every swap of adjacent digits.
 * https://skatteetaten.github.io/folkeregisteret-api-dokumentasjon/nytt-fodselsnummer-fra-2032/
 *
 * Numbers of synthetic people, accepted only with `synthetic`, have an offset added to the month, in D-numbers too:
 * - 80, Skatteetaten (Tenor, Test-Norge):
 *   https://skatteetaten.github.io/folkeregisteret-api-dokumentasjon/ny-versjon-av-syntetisk-folkeregister/
 * - 40, Nav (Dolly), and 65, Norsk helsenett: https://github.com/bekkopen/NoCommons/releases (0.16.0 and 0.15.0)
 *
 * H-numbers, which hospitals assign to people without a number, also have 40 added to the month and cannot be
 * distinguished from those of Nav. They are rejected without `synthetic`.
 */
export function normaliseNoPersonalNumber(text: string, synthetic: boolean): string | undefined {
  if (!/^[0-9]{11}$/.test(text)) return undefined;
  const result = idnr(text);
  if (result.status === 'valid') {
    return synthetic || result.type === 'fnr' || result.type === 'dnr' ? text : undefined;
  }
  // The library does not know the range of Norsk helsenett: it accepts the check digits but not the date.
  const onlyTheDateIsWrong = result.reasons.every((reason) => reason === 'invalid date');
  return synthetic && onlyTheDateIsWrong && hasNorskHelsenettDate(text) ? text : undefined;
}

function hasNorskHelsenettDate(digits: string): boolean {
  const givenDay = Number(digits.slice(0, 2));
  const day = givenDay > 40 ? givenDay - 40 : givenDay;
  const month = Number(digits.slice(2, 4)) - 65;
  // The number does not contain the century, so 29 February of year 00 is accepted, as in the library.
  const date = new Date(Date.UTC(2000 + Number(digits.slice(4, 6)), month - 1, day));
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
}
