import fc from 'fast-check';
import { describe, expect, onTestFinished, test } from 'vitest';
import { contactsOfPatient, isCurrent, nameOfPatient, wholeName } from './written-people.ts';

const now = new Date('2026-11-26T12:00:00Z');

describe('the name of a patient', () => {
  const official = { use: 'official', text: 'Nora Vik' };
  const parts = (use: string | undefined, family = 'Vik', given: unknown = ['Nora']) => ({ use, family, given });
  test.each([
    ['text only', [official], null, 'Nora Vik'],
    ['a text, and parts with another use', [official, parts('usual')], 'Nora', 'Vik'],
    ['a text, and parts of a nickname', [official, parts('nickname', 'Vik', ['Nusse'])], 'Nusse', 'Vik'],
    ['an official name', [parts('usual', 'Berg'), parts('official')], 'Nora', 'Vik'],
    ['only a maiden name', [parts('maiden')], 'Nora', 'Vik'],
    ['a maiden name beside a text', [parts('maiden', 'Berg'), official], null, 'Nora Vik'],
    [
      'an ended name beside one without use',
      [{ ...parts('official', 'Berg'), period: { end: '2020-01-01' } }, parts(undefined)],
      'Nora',
      'Vik',
    ],
    ['only an ended name', [{ ...parts('official'), period: { end: '2020-01-01' } }], 'Nora', 'Vik'],
    ['a family name only', [{ family: 'Vik' }], null, 'Vik'],
    ['given names only', [{ given: ['Nora', 'Lie'] }], 'Nora Lie', null],
    ['white space', [{ family: ' Vik\u00a0 Lie ', given: ['  Nora ', ''] }], 'Nora', 'Vik Lie'],
    ['an empty name first', [{ use: 'official', family: '', given: [] }, parts('temp')], 'Nora', 'Vik'],
    ['nulls', [null, { use: 'official', family: null, given: [null, 'Nora'], text: null }], 'Nora', null],
    ['one name that is no list', parts('official'), 'Nora', 'Vik'],
    ['given names that are no list', [parts('official', 'Vik', 'Nora')], 'Nora', 'Vik'],
    ['none', [], null, null],
    ['no list', undefined, null, null],
  ])('%s', (_, names, givenName, familyName) => {
    expect(nameOfPatient(names, now)).toEqual({ givenName, familyName });
  });

  test('is never empty while there is one', () => {
    const text = fc.option(fc.constantFrom('', ' ', 'Vik', 'Nora Vik'));
    const name = fc.record(
      {
        use: fc.constantFrom('official', 'usual', 'old', 'maiden', 'anything', null),
        text,
        family: text,
        given: fc.oneof(fc.array(text), text),
        period: fc.option(fc.record({ start: text, end: fc.constantFrom('2020-01-01', '2999', 'x') })),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(fc.array(name), (names) => {
        const found = nameOfPatient(names, now);
        const hasOne = names.some(({ text: whole, family, given }) =>
          [whole, family, given].flat().some((it) => it?.trim()),
        );
        expect(found.givenName !== null || found.familyName !== null).toBe(hasOne);
        expect(wholeName(names, now) !== undefined).toBe(hasOne);
      }),
    );
  });

  test('as a whole is the text of the best name, or its parts', () => {
    expect(wholeName([{ text: 'Dr Per Lind', family: 'Lind', given: ['Per'] }], now)).toBe('Dr Per Lind');
    expect(
      wholeName(
        [
          { use: 'old', text: 'P. Berg' },
          { family: 'Lind', given: ['Per', 'O.'] },
        ],
        now,
      ),
    ).toBe('Per O. Lind');
  });
});

describe('the contact points of a patient', () => {
  const phone = (value: unknown, use?: string, others: object = {}) => ({ system: 'phone', value, use, ...others });
  test.each([
    [
      'a mobile number before others',
      [phone('+4722000002', 'work'), phone('+4722000001', 'home'), phone('+4790000001', 'mobile')],
      '+4790000001',
    ],
    ['home before work', [phone('+4722000002', 'work'), phone('+4722000001', 'home')], '+4722000001'],
    [
      'by rank',
      [phone('+4790000002', 'mobile', { rank: 2 }), phone('+4790000001', 'mobile', { rank: 1 })],
      '+4790000001',
    ],
    ['the first that is a number', [phone('see notes', 'mobile'), phone('+4722000001', 'home')], '+4722000001'],
    ['the first that is possible', [phone('+47 9000', 'mobile'), phone('+4722000001', 'home')], '+4722000001'],
    [
      'one that is in use',
      [
        phone('+4790000002', 'mobile', { period: { end: '2020-01-01' } }),
        phone('+4790000001', 'old'),
        phone('+4722000001'),
      ],
      '+4722000001',
    ],
    ['an SMS number', [{ system: 'sms', value: '+4790000001' }], '+4790000001'],
    ['without a system', [{ value: '+4790000001' }], '+4790000001'],
    ['a URI', [{ system: 'url', value: 'tel:+47-900-00-001' }], '+4790000001'],
    ['no fax', [{ system: 'fax', value: '+4722000001' }], null],
    ['nothing', [null, phone(null), phone(4790000001), 'x'], null],
    ['no list', phone('+4790000001'), '+4790000001'],
  ])('%s', (_, contacts, expected) => {
    expect(contactsOfPatient(contacts, now).phone).toBe(expected);
  });

  test('a domestic mobile number comes before others', () => {
    const contacts = [phone('08-123 45 67', 'home'), phone('070-174 06 05', 'mobile')];
    expect(contactsOfPatient(contacts, now)).toMatchObject({
      nationalPhone: '0701740605',
      phones: ['0701740605', '081234567'],
    });
    expect(contactsOfPatient(contacts, now, 'SE')).toMatchObject({ phone: '+46701740605' });
  });

  test.each([
    ['nora@example.org', 'nora@example.org'],
    [' mailto:nora@example.org ', 'nora@example.org'],
    ['MAILTO:nora@example.org?subject=Hi', 'nora@example.org'],
    ['Nora Vik <nora@example.org>', 'nora@example.org'],
    ['nora@example.org; vik@example.org', 'nora@example.org'],
    ['nora@example.org (work)', 'nora@example.org'],
    ['nora@', null],
    ['none', null],
    [null, null],
  ])('the e-mail address %j is %j', (value, expected) => {
    expect(contactsOfPatient([{ system: 'email', value }], now).email).toBe(expected);
  });

  test('an e-mail address that is none is passed over', () => {
    const contacts = [
      { system: 'email', value: 'none' },
      { system: 'email', use: 'work', value: 'nora@example.org' },
    ];
    expect(contactsOfPatient(contacts, now).email).toBe('nora@example.org');
  });
});

test.each([
  [undefined, true],
  [{ start: '2027-01-01' }, false],
  [{ end: '2026-11-26' }, true],
  [{ end: '2026-11-25' }, false],
  [{ start: null, end: 7 }, true],
  [{ end: 'soon' }, true],
])('the period %j is current: %j', (period, expected) => {
  expect(isCurrent(period, now)).toBe(expected);
});

test.each(['UTC', 'Pacific/Kiritimati', 'America/St_Johns'])('a period is the same in a process in %s', (zone) => {
  const own = process.env.TZ;
  onTestFinished(() => {
    if (own === undefined) delete process.env.TZ;
    else process.env.TZ = own;
  });
  process.env.TZ = zone;
  expect(isCurrent({ start: '2026-11-26T11:59:00' }, now)).toBe(true);
  expect(isCurrent({ start: '2026-11-26T12:01:00' }, now)).toBe(false);
  expect(isCurrent({ end: '2026-11-26T12:01:00' }, now)).toBe(true);
  expect(isCurrent({ end: '2026-11-26T11:59:00' }, now)).toBe(false);
  expect(isCurrent({ end: '2026-11-26T11:59:00-01:00' }, now)).toBe(true);
});
