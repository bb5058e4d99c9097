import { expect, test } from 'vitest';
import { plainText, showsNationalNumber } from './plain-text.ts';

const number = '19640823-3234';
const nhs = '943 476 5919';

test.each([
  ['a zero-width space', '19640823\u200B3234'],
  ['zero-width spaces everywhere', [...'196408233234'].join('\u200B')],
  ['a zero-width joiner', '1964\u200D08233234'],
  ['a soft hyphen', '196408\u00AD233234'],
  ['a word joiner and a mark', '1964\u2060\uFEFF08233234'],
  ['a variation selector', '1964\uFE0F08233234'],
  ['a control character', '1964\u000008\u0007233234'],
  ['a tag', '1964\u{E0020}08233234'],
  ['a mark that reverses', '19640823\u202E-3234'],
  ['a no-break space', '19640823\u00A03234'],
  ['a narrow no-break space', '19640823\u202F3234'],
  ['a hyphen that does not break', '19640823\u20113234'],
  ['a dash', '19640823–3234'],
  ['a minus sign', '19640823\u22123234'],
  ['dots', '1964.08.23.3234'],
  ['hyphens', '1964-08-23-3234'],
  ['a tab', '19640823\t3234'],
  ['digits in full width', '１９６４０８２３３２３４'],
  ['each digit apart', '1 9 6 4 0 8 2 3 3 2 3 4'],
  ['a Norwegian number in groups', '158590 000 26'],
  ['a Norwegian number with dots', '15.85.90.00026'],
  ['no-break spaces of an NHS number', nhs.replaceAll(' ', '\u00A0')],
  ['dots of an NHS number', nhs.replaceAll(' ', '.')],
  ['nothing', number],
])('a national number with %s does not stay', (_, text) => {
  expect(plainText(`The time of (${text}), was taken.`)).toBe('The time of (…), was taken.');
});

test.each([
  '010190\u2011999W',
  '010190\u200B-999w',
  '０１０１９０-９９９Ｗ',
  'ZZZ\u00A000AC',
  'xxx xxx 00A01 X999M',
  '251248\u20139996',
])('the number %j of another country does not stay', (number) => {
  expect(plainText(`The time of (${number}), was taken.`)).toBe('The time of (…), was taken.');
});

test.each([
  ['emr_id:010190-999W', true],
  ['0201609995', true],
  ['emr_id:A000000002', true],
  // Too many ids of EHRs are like a BSN, or an NHI number.
  ['emr_id:999900006', false],
  ['ZZZ00AC', false],
  ['emr_id:r-1', false],
])('whether the id %s shows a national number: %s', (id, shows) => {
  expect(showsNationalNumber(id)).toBe(shows);
});

test('a text of nothing but what hides is cleaned in time that grows with its length', () => {
  for (const sign of ['\u200D', '\u0001', '\u200B', ' ', '.', '1', '1 ', '1\u200D']) {
    expect(plainText(`x${sign.repeat(200_000)}y`)).toMatch(/^x/);
  }
});

test('telephone numbers, times and joined letters stay', () => {
  const text = 'Ring 08-123 456 78, 070-123 45 67 eller +47 22 12 34 56 före 2026-03-20 09:00, rum 12. 👩‍⚕️';
  expect(plainText(text)).toBe(text);
  expect(plainText('kl 9\n10 personer')).toBe('kl 9 10 personer');
});
