import { withoutNationalNumbers } from './without-national-numbers.ts';

/** Characters that nobody sees, other than those that join letters: https://www.unicode.org/reports/tr44/#Cf */
const invisible = /[\p{Bidi_Control}\p{Cf}](?<![\u200C\u200D])/gu;
/** Between digits, those that join letters hide a number too, and so do control characters that end no line. */
const hiding =
  /(?<before>\p{Nd}?)(?:[\p{Default_Ignorable_Code_Point}\p{Cf}]|(?![\s\u0085])\p{Cc})+(?=(?<after>\p{Nd}?))/gu;

/**
 * A text of somebody else as people and models get it: in one line, without characters that hide or reverse others, and without
 * national numbers. It is cleaned first: otherwise a character that nobody sees would keep a number in it.
 */
export function plainText(text: string): string {
  return withoutNationalNumbers(cleaned(text));
}

/** Shorter numbers are too often ids of an EHR. */
const shortestInId = 10;

/** Whether an id has a national number in it, also one that characters hide which nobody sees. */
export function showsNationalNumber(id: string): boolean {
  return withoutNationalNumbers(cleaned(id), shortestInId) !== cleaned(id);
}

function cleaned(text: string): string {
  return (
    text
      .toWellFormed()
      .replaceAll(hiding, (run, before: string, after: string) => (before || after ? before : run))
      .replaceAll(invisible, '')
      .replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')
      // Digits and letters in full width, and others of the kind, which are read as such.
      .replaceAll(/[\p{Nd}\uff21-\uff3a\uff41-\uff5a]/gu, (digit) => digit.normalize('NFKC'))
      .trim()
  );
}
