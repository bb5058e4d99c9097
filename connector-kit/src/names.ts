/**
 * A name of a person in one form, to compare it with another: Unicode NFC, lower case, single spaces, one kind of apostrophe and
 * one of hyphen, and no characters that show nothing.
 */
export function foldedName(name: string | null | undefined): string {
  const visible = (name ?? '').replaceAll(/\p{Default_Ignorable_Code_Point}/gu, '');
  const marks = tidyName(visible).replaceAll(apostrophes, "'").replaceAll(hyphens, '-');
  // Upper case first, because that of `ß` is `SS`.
  return marks.toUpperCase().toLowerCase().normalize('NFC');
}

/** Whether two names are written alike, by the rules of `foldedName`. No name is like none. */
export function isSameName(one: string | null | undefined, other: string | null | undefined): boolean {
  const folded = foldedName(one);
  return folded !== '' && folded === foldedName(other);
}

/**
 * Whether a patient has a family name. Of a name that is only one text (no given name), nobody knows which words are the
 * family's: it may begin or end with it.
 */
export function hasFamilyName(
  { givenName, familyName }: { readonly givenName: string | null; readonly familyName: string | null },
  wanted: string,
): boolean {
  if (isSameName(familyName, wanted)) return true;
  const [all, words] = [wordsOf(familyName), wordsOf(wanted)];
  if (givenName !== null || words === '') return false;
  return all.startsWith(`${words} `) || all.endsWith(` ${words}`);
}

function wordsOf(name: string | null): string {
  return foldedName(name)
    .split(/[\s,]+/)
    .filter(Boolean)
    .join(' ');
}

/** The usual spellings of a name, for an EHR that compares text: the name itself, and each kind of apostrophe and hyphen. */
export function spellingsOfName(name: string): readonly string[] {
  const tidy = tidyName(name);
  const withApostrophes = ["'", '\u2019', '\u02bc', '`', '\u00b4'].map((it) => tidy.replaceAll(apostrophes, it));
  const forms = withApostrophes.flatMap((form) =>
    ['-', '\u2010', '\u2011', '\u2013'].map((it) => form.replaceAll(hyphens, it)),
  );
  return [...new Set([tidy, ...forms])];
}

/** A name as it is shown: NFC, single spaces, none at its ends. `''` for what is no text. */
export function tidyName(name: unknown): string {
  if (typeof name !== 'string') return '';
  return name
    .toWellFormed()
    .normalize('NFC')
    .replaceAll(/[\s\p{Cc}]+/gu, ' ')
    .trim();
}

const apostrophes = /['`\u00b4\u02b9\u02bb\u02bc\u02bd\u02c8\u2018\u2019\u201b\u2032\u2035\ua78c\uff07]/g;
const hyphens = /[\p{Pd}\u2212\u2043]/gu;
