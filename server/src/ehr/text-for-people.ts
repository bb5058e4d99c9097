import { plainText } from '../identifiers/index.ts';

const longestText = 500;

/**
 * A text of the EHR that a person has to see: up to 500 characters, in one line, without national numbers. Only for responses,
 * never for the log. `undefined`: there is none.
 */
export function textForPeople(text: string | null | undefined): string | undefined {
  if (!text) return undefined;
  return [...plainText(text)].slice(0, longestText).join('') || undefined;
}
