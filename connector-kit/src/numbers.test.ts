import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { completeSpellingsOf, numberIn, spellingsOf } from './numbers.ts';

const today = new Date('2026-11-26T12:00:00Z');
const digits = (length: number) => fc.stringMatching(new RegExp(`^[0-9]{${length}}$`));
const birthDates = fc
  .date({ min: new Date('1890-01-01T00:00:00Z'), max: new Date('2026-11-25T00:00:00Z'), noInvalidDate: true })
  .map((it) => it.toISOString().slice(0, 10));

describe('every spelling of a number is read as this number', () => {
  test.each([
    ['no_personal_number', digits(11)],
    ['nhs_number', digits(10)],
    ['hsa_id', fc.stringMatching(/^SE[0-9]{10}-[0-9A-Z]{1,18}$/)],
  ] as const)('%s', (type, values) => {
    fc.assert(
      fc.property(values, (value) => {
        const spellings = spellingsOf({ type, value });
        expect(spellings[0]).toBe(value);
        expect(completeSpellingsOf({ type, value })).toEqual(spellings);
        for (const it of spellings) expect(numberIn(type, it)).toBe(value);
      }),
    );
  });

  test('se_personal_number, of which some have no century', () => {
    const numbers = fc.record({ born: birthDates, serial: digits(4), added: fc.constantFrom(0, 60) });
    fc.assert(
      fc.property(numbers, ({ born, serial, added }) => {
        const day = String(Number(born.slice(8)) + added).padStart(2, '0');
        const value = `${born.slice(0, 4)}${born.slice(5, 7)}${day}${serial}`;
        const number = { type: 'se_personal_number', value } as const;
        const spellings = spellingsOf(number, today);
        expect(spellings[0]).toBe(value);
        for (const it of spellings) expect(numberIn('se_personal_number', it, born, today)).toBe(value);
        for (const it of completeSpellingsOf(number))
          expect(numberIn('se_personal_number', it, null, today)).toBe(value);
        const plus = spellings.filter((it) => it.includes('+'));
        expect(plus).toHaveLength(Number(born.slice(0, 4)) <= 1926 ? 1 : 0);
      }),
    );
  });

  test.each(['-', ' ', '\u00a0', '\u2011', '\u2013', '\u2212'])('with the separator %j', (separator) => {
    expect(numberIn('se_personal_number', ` 19640823${separator}3234 `)).toBe('196408233234');
    expect(numberIn('no_personal_number', `158590${separator}00026`)).toBe('15859000026');
    expect(numberIn('nhs_number', `999${separator}000${separator}0018`)).toBe('9990000018');
  });
});

test('contains those that hospitals write', () => {
  const spellings = (type: Parameters<typeof spellingsOf>[0]['type'], value: string) => spellingsOf({ type, value });
  expect(spellings('se_personal_number', '191212121212')).toContain('19121212-1212');
  expect(spellings('se_personal_number', '191212121212')).toContain('121212+1212');
  expect(spellings('se_personal_number', '196408233234')).toContain('640823-3234');
  expect(spellings('se_personal_number', '197010632391')).toContain('7010632391');
  expect(spellings('nhs_number', '9990000018')).toContain('999 000 0018');
  expect(spellings('no_personal_number', '15859000026')).toContain('158590 00026');
});

test.each([
  // The birth date decides, whatever the separator.
  ['121212-1212', '1912-12-12', '191212121212'],
  ['121212-1212', '2012-12-12', '201212121212'],
  ['121212+1212', '2012-12-12', '201212121212'],
  // Without one, or with that of another year, `+` is for somebody of 100 years or more.
  ['121212+1212', null, '191212121212'],
  ['121212-1212', null, '201212121212'],
  ['1212121212', undefined, '201212121212'],
  ['121212-1212', '1980-01-01', '201212121212'],
  ['121212-1212', '12/12/1912', '201212121212'],
  // Born today, tomorrow, and a day of a coordination number.
  ['261126-1212', null, '202611261212'],
  ['261127-1212', null, '192611271212'],
  ['261127+1212', null, '192611271212'],
  ['261186-1212', null, '202611861212'],
  ['261188-1212', null, '192611881212'],
  // A reserve number.
  ['19800101-t123', null, '19800101T123'],
  ['12345', null, undefined],
  ['191212121212 (reserv)', null, undefined],
  ['', null, undefined],
  [null, null, undefined],
] as const)('the Swedish number %j of somebody born on %j is %j', (text, born, expected) => {
  expect(numberIn('se_personal_number', text, born, today)).toBe(expected);
});

test('whatever stands in the field, it is a number in its normal form or none', () => {
  fc.assert(
    fc.property(fc.string(), fc.option(fc.string()), (text, born) => {
      expect(numberIn('no_personal_number', text) ?? '12345678901').toMatch(/^\d{11}$/);
      expect(numberIn('nhs_number', text) ?? '1234567890').toMatch(/^\d{10}$/);
      expect(numberIn('se_personal_number', text, born) ?? '191212121212').toMatch(/^\d{8}[0-9PTF]\d{3}$/);
    }),
  );
});
