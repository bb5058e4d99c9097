import type { Language } from './language.ts';

const locales: Readonly<Record<Language, string>> = { nb: 'nb-NO', sv: 'sv-SE', en: 'en-GB' };

/** A day in words, such as `fredag 20. mars 2026`. */
export function dayText(instant: Date, timeZone: string, language: Language): string {
  const options = { weekday: 'long', day: 'numeric', month: 'long', year: 'numeric', timeZone } as const;
  const text = new Intl.DateTimeFormat(locales[language], options).format(instant);
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Whether both instants are on the same day of the care unit's calendar. */
export function isSameDay(one: Date, other: Date, timeZone: string): boolean {
  return dayText(one, timeZone, 'en') === dayText(other, timeZone, 'en');
}

/** The time on the clock of the care unit, such as `09:00`. */
export function clockText(instant: Date, timeZone: string): string {
  // The same form in all languages.
  return new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', timeZone }).format(instant);
}
