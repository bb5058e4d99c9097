import { plainText } from '../identifiers/index.ts';

/** Longest text of an EHR that a model gets, in characters. */
export const longestText = 500;

/**
 * Text of an EHR as data for a model: in one line, of limited length, without national numbers. Whoever can write into the EHR
 * could otherwise write pages of instructions.
 */
export function dataText(text: string): string {
  const line = plainText(text);
  return line.length > longestText ? `${line.slice(0, longestText - 1)}…` : line;
}
