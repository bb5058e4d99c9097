import { describe, expect, test } from 'vitest';
import { texts } from './all-texts.ts';
import { languages, preferredLanguage } from './language.ts';
import type { Texts } from './texts.ts';
import { clockText, dayText, isSameDay } from './times.ts';

/** Every text by its path. Functions are called with a number, or with a time. */
function textsIn(value: unknown, path = ''): (readonly [string, string])[] {
  if (typeof value === 'string') return [[path, value]];
  if (typeof value === 'function') return [[path, value(/^\.(validUntil|held\.)/.test(path) ? '09:41' : 3, undefined)]];
  return Object.entries(value as object).flatMap(([key, part]) => textsIn(part, `${path}.${key}`));
}

const all = (of: Texts) => textsIn(of).filter(([path]) => !path.startsWith('.states.cancellation.'));

describe.each(languages)('in %s', (language) => {
  test('texts are whole: no empty one, no double space, sentences with a full stop', () => {
    for (const [path, text] of textsIn(texts[language])) {
      expect(text.trim(), path).toBe(text);
      expect(text, path).not.toMatch(/ {2}|undefined|\.\./);
      if (path.endsWith('.text')) expect(text, path).toMatch(/\.$/);
      if (path.endsWith('.heading')) expect(text, path).toMatch(/[^.]$/);
      expect(text, path).not.toBe('');
    }
  });

  test('no text is in another language by mistake', () => {
    const others = languages.filter((it) => it !== language).flatMap((it) => all(texts[it]).map(([, text]) => text));
    const long = all(texts[language]).filter(([, text]) => text.split(' ').length > 3);
    expect(long.filter(([, text]) => others.includes(text))).toEqual([]);
  });
});

test('one attempt is in the singular', () => {
  expect(texts.en.incorrect(1)).toBe('The code is incorrect. You have 1 attempt left');
  expect(texts.en.incorrect(4)).toBe('The code is incorrect. You have 4 attempts left');
});

test.each([
  ['nb', /^Fredag 20\. mars 2026$/],
  ['sv', /^Fredag 20 mars 2026$/],
  // Versions of the Unicode data differ in the comma.
  ['en', /^Friday,? 20 March 2026$/],
] as const)('days are in %s, on the calendar of the care unit', (language, text) => {
  expect(dayText(new Date('2026-03-19T23:30:00Z'), 'Europe/Oslo', language)).toMatch(text);
});

test('a code that expires on another day says on which', () => {
  const days = languages.map((it) =>
    texts[it].validUntil('00:05', dayText(new Date('2026-03-20T08:00:00Z'), 'UTC', it)),
  );
  expect(days.map((it) => it.replace(',', ''))).toEqual([
    'Koden gjelder til fredag 20. mars 2026 kl. 00:05.',
    'Koden gäller till fredag 20 mars 2026 kl. 00:05.',
    'The code is valid until 00:05 on Friday 20 March 2026.',
  ]);
  const at = (text: string) => new Date(text);
  expect(isSameDay(at('2026-03-19T22:30:00Z'), at('2026-03-19T23:30:00Z'), 'Europe/Oslo')).toBe(false);
  expect(isSameDay(at('2026-03-19T23:30:00Z'), at('2026-03-20T22:30:00Z'), 'Europe/Oslo')).toBe(true);
});

test('times are on the clock of the care unit', () => {
  expect(clockText(new Date('2026-03-19T23:05:00Z'), 'Europe/Oslo')).toBe('00:05');
  expect(clockText(new Date('2026-07-01T07:00:00Z'), 'Europe/London')).toBe('08:00');
});

test.each([
  ['nn-NO,no;q=0.9,en;q=0.5', 'nb'],
  ['de-DE, sv;q=0.8, en;q=0.7', 'sv'],
  ['fr', 'en'],
  ['*', 'en'],
  [undefined, 'en'],
])('a browser that accepts %s gets %s', (header, language) => {
  expect(preferredLanguage(header)).toBe(language);
});
