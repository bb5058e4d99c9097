export const languages = ['nb', 'sv', 'en'] as const;
export type Language = (typeof languages)[number];

/** The languages by their own names. */
export const languageNames: Readonly<Record<Language, string>> = { nb: 'Norsk', sv: 'Svenska', en: 'English' };

/** Reads the language that a link of the page names. */
export function readLanguage(text: unknown): Language | undefined {
  return languages.find((it) => it === text);
}

const families: Readonly<Record<string, Language>> = { nb: 'nb', no: 'nb', nn: 'nb', da: 'nb', sv: 'sv', en: 'en' };

/** The first known language of an `Accept-Language` header (RFC 9110 section 12.5.4), which browsers sort. */
export function preferredLanguage(header: string | undefined): Language {
  for (const range of (header ?? '').split(',')) {
    const language = families[range.trim().slice(0, 2).toLowerCase()];
    if (language) return language;
  }
  return 'en';
}
