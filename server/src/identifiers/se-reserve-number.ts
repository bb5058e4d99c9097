import { hasLuhnCheckDigit } from './luhn.ts';

/**
 * Returns the twelve characters of a Swedish reserve number, which regions give to people without a known personal number, in
 * one of the forms that RIV-TA `crm:scheduling` takes (`SubjectOfCareIdType`), or `undefined`. `-` before the last four is left
 * out, and a letter is written in upper case.
 *
 * - Region Stockholm: 99, a year, a serial number, and a check digit over all from the third digit of the year on
 * - Inera Carelink: a birth date with a day from 32 to 59, a serial number and a check digit
 * - eight digits, P, T or F, and three digits; there is no check digit
 *
 * Source of the first two: https://inera.atlassian.net/wiki/pages/viewpage.action?pageId=3353231994
 */
export function normaliseSeReserveNumber(text: string): string | undefined {
  const [, start, end] = /^([0-9]{8})-?([0-9PTF][0-9]{3})$/i.exec(text) ?? [];
  if (start === undefined || end === undefined) return undefined;
  const number = start + end.toUpperCase();
  const isStockholms = /^99(?:19|2[0-2])[0-9]{8}$/.test(number) && hasLuhnCheckDigit(number.slice(4));
  const isCarelinks =
    /^(?:18|19|20)[0-9]{2}(?:0[1-9]|1[0-2])(?:3[2-9]|[45][0-9])[0-9]{4}$/.test(number) &&
    hasLuhnCheckDigit(number.slice(2));
  return isStockholms || isCarelinks || /[PTF]/.test(number) ? number : undefined;
}
