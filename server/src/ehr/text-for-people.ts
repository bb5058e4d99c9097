import { withoutNationalNumbers } from '../identifiers/index.ts';

const longestText = 500;

/** Characters that reverse the order of others: https://www.unicode.org/reports/tr9/#Directional_Formatting_Characters */
const directional = /\p{Bidi_Control}+/gu;

/**
 * A text of the EHR that a person has to see: up to 500 characters, in one line, without national numbers. Only for responses,
 * never for the log. `undefined`: there is none.
 */
export function textForPeople(text: string | null | undefined): string | undefined {
  if (!text) return undefined;
  const line = text
    .toWellFormed()
    .replaceAll(directional, '')
    .replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')
    .trim();
  return [...withoutNationalNumbers(line)].slice(0, longestText).join('') || undefined;
}
