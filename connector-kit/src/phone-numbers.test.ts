import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { mayHavePhone, patientPhones, phoneNumbersIn, reachableNumber, spellingsOfPhone } from './phone-numbers.ts';

test.each([
  // The trunk zero.
  ['+46 (0)70-174 06 05', ['+46701740605']],
  ['+46(0)701740605', ['+46701740605']],
  ['+460701740605', ['+46701740605']],
  ['0046 (0) 70 174 06 05', ['+46701740605']],
  ['+44 (0)7700 900123', ['+447700900123']],
  ['+49 (0)30 / 123 45 67', ['+49301234567']],
  // In Italy it is part of the number.
  ['+39 (0)6 1234 5678', ['+390612345678']],
  ['+39 06 1234 5678', ['+390612345678']],
  // Extensions.
  ['+47 22 00 00 01 ext. 12', ['+4722000001']],
  ['22 00 00 01 x12', ['22000001']],
  ['+47 22 00 00 01, ext 12345', ['+4722000001']],
  ['+4722000001;ext=12', ['+4722000001']],
  ['+1 (555) 123-4567 extension 99999', ['+15551234567']],
  ['anknytning 1234 08-123 45 67', ['081234567']],
  ['x 22 00 00 01', ['22000001']],
  // Words.
  ['90 00 00 01 (mor)', ['90000001']],
  ['mobil: 900 00 001', ['90000001']],
  ['+46 70 174 06 05 (endast SMS)', ['+46701740605']],
  ['+47 900 00 001 etter kl 16.00', ['+4790000001']],
  ['900 00 001 (16.00-18.00)', ['90000001']],
  ['call after 2024-05-01', []],
  ['see notes', []],
  ['nora@example.org', []],
  // Two numbers.
  ['22 00 00 01 / 90 00 00 01', ['22000001', '90000001']],
  ['22000001/90000001', ['22000001', '90000001']],
  ['22000001 90000001', ['22000001', '90000001']],
  ['+4722000001 +4790000001', ['+4722000001', '+4790000001']],
  ['+46 70 174 06 05 08-123 45 67', ['+46701740605', '081234567']],
  ['+47-900-00-001 - 22 00 00 01', ['+4790000001', '22000001']],
  ['0701740605 eller 08-123 45 67', ['0701740605', '081234567']],
  ['900 00 001\n22 00 00 01', ['90000001', '22000001']],
  // One number with a slash.
  ['030/1234567', ['0301234567']],
  ['22000001/02', ['22000001']],
  // URIs.
  ['tel:+47-22-00-00-01;ext=12', ['+4722000001']],
  ['TEL:%2B4722000001', ['+4722000001']],
  ['tel:900%20%zz', []],
  // Other spaces and digits.
  ['+47\u00a0900\u202f00\u2009001', ['+4790000001']],
  ['\u200e+47 900 00 001\u202c', ['+4790000001']],
  ['\uff0b４７９０００００01', ['+4790000001']],
  ['070\u2013174 06 05', ['0701740605']],
  // Impossible in their country.
  ['+47123', []],
  ['+46 70 174', []],
  ['+99912345678', []],
  ['00000000', []],
  ['12', []],
  ['', []],
  // A number that nobody has, for tests.
  ['+4700000001', ['+4700000001']],
])('%j has the numbers %j', (text, numbers) => {
  expect(phoneNumbersIn(text)).toEqual(numbers);
});

describe('a number', () => {
  const national = fc.constantFrom<[string, string, boolean]>(
    ['46', '701740605', true],
    ['46', '81234567', true],
    ['47', '90000001', false],
    ['47', '22000001', false],
    ['44', '7700900123', true],
    ['44', '2079460958', true],
    ['45', '32123456', false],
    ['358', '401234567', true],
    ['49', '301234567', true],
    ['33', '123456789', true],
    ['39', '0612345678', false],
    ['1', '2125550123', false],
  );
  const separator = fc.constantFrom('', ' ', '-', '.', '\u00a0', '\u2011');
  const grouped = fc.array(fc.tuple(fc.integer({ min: 2, max: 4 }), separator), { minLength: 8, maxLength: 8 });
  const written = fc.record({
    prefix: fc.constantFrom('+', '00', '(+', 'tel:+', 'Tlf: +', 'mobil 00'),
    number: national,
    zero: fc.constantFrom('', '(0)', ' (0) '),
    groups: grouped,
    after: fc.constantFrom('', ' ', ' (hjemme)', ' ext. 12', ';ext=9', ' x7', ' - ring etter fire'),
  });

  test('is read whatever stands in, before and behind it', () => {
    fc.assert(
      fc.property(written, ({ prefix, number: [country, rest, hasTrunk], zero, groups, after }) => {
        let [left, body]: [string, string] = [rest, ''];
        for (const [length, between] of groups) {
          body += left.slice(0, length) + (left.length > length ? between : '');
          left = left.slice(length);
        }
        const closing = prefix === '(+' ? ') ' : ' ';
        const text = `${prefix}${country}${closing}${hasTrunk ? zero : ''}${body}${after}`;
        expect(phoneNumbersIn(text), text).toEqual([`+${country}${rest}`]);
      }),
    );
  });

  test('is E.164 or digits, whatever the text is', () => {
    const text = fc.oneof(fc.string(), fc.stringMatching(/^[+0-9 ()/.x-]{0,40}$/));
    fc.assert(
      fc.property(text, (it) => {
        for (const number of phoneNumbersIn(it)) expect(number).toMatch(/^(\+[1-9]\d{4,14}|\d{5,13})$/);
      }),
    );
  });
});

test.each([
  [['see notes', '+4722000001'], { phone: '+4722000001' }],
  [[undefined, null, 7, ''], { phone: null }],
  [['070-174 06 05'], { phone: null, nationalPhone: '0701740605' }],
  [['070-174 06 05', '+46 8 123 45 67'], { phone: '+4681234567', phones: ['0701740605', '+4681234567'] }],
  [['12345', '90000001'], { phone: null, nationalPhone: '12345', phones: ['12345', '90000001'] }],
  [['+4790000001', '0047 90 00 00 01'], { phone: '+4790000001' }],
])('the texts %j are %j', (texts, phones) => {
  expect(patientPhones(texts)).toEqual(phones);
});

test('of an EHR whose patients live in one country, only numbers that are possible there are left', () => {
  expect(patientPhones(['07700', '020 7946 0958', '+46701740605'], 'GB')).toEqual({
    phone: '+442079460958',
  });
});

test.each([
  ['+4722000001', undefined, '+4722000001'],
  ['+4700000001', 'SE', '+4700000001'],
  ['+47123', undefined, undefined],
  ['+460701740605', undefined, '+46701740605'],
  ['0701740605', 'SE', '+46701740605'],
  ['0701740605', 'NO', undefined],
  ['0701740605', undefined, undefined],
  ['12345', 'SE', undefined],
])('%s, of a care unit in %s, can be reached as %s', (number, country, expected) => {
  expect(reachableNumber(number, country)).toBe(expected);
});

describe('the usual spellings of a number', () => {
  test.each([
    ['+46701740605', ['+46701740605', '0701740605', '070-174 06 05', '070-1740605', '070 174 06 05']],
    ['+46701740605', ['+46 70-174 06 05', '+46 (0)70-174 06 05', '+46(0)701740605', '0046701740605']],
    ['+4681234567', ['08-123 45 67', '+46 8 123 45 67', '+46 8-123 45 67']],
    ['+4790000001', ['+4790000001', '90000001', '90 00 00 01', '900 00 001', '+47 900 00 001', 'tel:+4790000001']],
    ['+447700900123', ['07700 900123', '+44 7700 900123', '+44 (0)7700 900123', '00447700900123']],
    ['+390612345678', ['0612345678', '06 1234 5678', '+39 06 1234 5678']],
    ['+12125550123', ['2125550123', '(212) 555-0123', '+1 212-555-0123']],
    ['+4700000001', ['+4700000001', '00000001', '000 00 001']],
  ])('%s has %j among them', (phone, expected) => {
    expect(spellingsOfPhone(phone)).toEqual(expect.arrayContaining(expected));
  });

  test.each(['+46701740605', '+4790000001', '+447700900123', '+358401234567', '+491701234567', '+61412345678'])(
    'of %s are read as it, and are few',
    (phone) => {
      const spellings = spellingsOfPhone(phone);
      expect(spellings[0]).toBe(phone);
      expect(spellings.length).toBeLessThan(40);
      expect(new Set(spellings).size).toBe(spellings.length);
      for (const it of spellings) expect(mayHavePhone(patientPhones([it]), phone), it).toBe(true);
    },
  );

  test('of a text that is no number are the text', () => {
    expect(spellingsOfPhone('+1')).toEqual(['+1']);
  });
});

test.each([
  [['+46701740605'], '+46701740605', true],
  [['0701740605'], '+46701740605', true],
  [['08-123 45 67', '0701740605'], '+46701740605', true],
  [['90000001'], '+4790000001', true],
  [['90000001'], '+4590000001', true],
  [['+4590000001'], '+4790000001', false],
  [['0701740606'], '+46701740605', false],
  [[], '+46701740605', false],
])('who has %j may have %s: %s', (texts, phone, expected) => {
  expect(mayHavePhone(patientPhones(texts), phone)).toBe(expected);
});
