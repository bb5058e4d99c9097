import { createRequire } from 'node:module';
import { builtInIdentifierTypes, identifierType, numberIn, spellingsOf, valuePattern } from '@crossward/connector-kit';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  digits,
  hsaIds,
  withLuhnCheckDigit,
  withNeighboursSwapped,
  withNhsCheckDigit,
  withOneDigitChanged,
} from './arbitraries.ts';
import { checks } from './check-digits.ts';
import { valueRule } from './value-rules.ts';
import { withoutNationalNumbers } from './without-national-numbers.ts';

const require = createRequire(import.meta.url);
/** A second opinion. It has no types of its own for each number. */
const { stdnum } = require('stdnum') as {
  readonly stdnum: Readonly<Record<string, Readonly<Record<string, { validate(text: string): { isValid: boolean } }>>>>;
};
const today = new Date('2026-11-26T12:00:00Z');
const read = (type: string, text: string, synthetic = true) => valueRule(type)?.normalise(text, { synthetic }, today);

/** Numbers of nobody: of tests, of a birth in the future, published, or with a serial number of zeros. */
const valid: Readonly<Record<string, readonly string[]>> = {
  dk_cpr: ['2512489996', '0201609995', '0101575004', '0703921VJ4', '1206550VK9'],
  fi_hetu: ['010190-999W', '010190U900P', '290200B901C', '311299+950V'],
  is_kennitala: ['3112992040', '3112992050'],
  gb_hcn: ['3200000007', '3999999993'],
  nz_nhi: ['ZAA0067', 'ZAA0075', 'ZAA0083', 'ZZZ0008', 'ZZZ00AC', 'ZZZ99ZJ', 'ACA31FM', 'ASE37QK', 'ZSC21TN'],
  au_ihi: ['8003608000228437', '8003600000000007'],
  de_kvnr: ['X110452075', 'A000000002', 'X000000000'],
  ca_on_hcn: ['0000000000', '9999999999'],
  nl_bsn: ['999900006', '999990019', '999911120'],
  fr_ins: ['279035121518989', '199029999999995', '195022A99900154'],
  it_cf: ['XXXXXX00A01X999M', 'XXXXXX00A41X999Q', 'XXXXXXLLALMXVVVT'],
  hsa_id: ['SE0000000000-1001', `SE2321000016-${'A'.repeat(18)}`],
  no_hpr: ['1', '9999999'],
  us_npi: ['1000000004', '1234567893'],
  dk_sor: ['41501000016009'],
  gb_ods: ['RXX', 'Y00001'],
};
const invalid: Readonly<Record<string, readonly string[]>> = {
  dk_cpr: ['3002609995', '251248999', '2513489996', '070392-1VJ', '0703921IJKL'],
  fi_hetu: ['010190-999Y', '290200-902D', '010190G999W', '010190999W', '010190-0010', '010190-999W '],
  is_kennitala: ['3113992040', '7112992030', '8112992040', '3112992041'],
  // The numbers of a day that does not exist are the only ones of which it is certain that nobody has them.
  gb_chi: ['3102990010', '3102990029', '4102990010'],
  gb_hcn: ['3200000008', '3100000003', '4010232137'],
  nz_nhi: ['ZZZ0044', 'ZZZ00AX', 'ZAA0068', 'ZIA0067', 'ZAA-006-7'],
  au_ihi: ['8003600000000008', '8003610000000006'],
  de_kvnr: ['X123456789', 'A000000000', '1110452075'],
  ca_on_hcn: ['0000000001', '0000000000AB'],
  nl_bsn: ['999900007', '000000000', '99990000'],
  fr_ins: ['170017510112313', '195022A99900100', '579035121518989'],
  it_cf: ['XXXXXX00A01X999N', 'XXXXXX00B30X999P', 'XXXXXX00F01X999M'],
  hsa_id: [
    '',
    'SE2321000016',
    'SE2321000016-',
    'NO2321000016-1',
    'SE232100001-1',
    'SE23210000166-1',
    'SE2321000016-Å',
    'SE2321000016-1-2',
    'SE2321000016-1@',
    ' SE2321000016-1',
    'SE2321000016-1\n',
    'ſE2321000016-1',
    `SE2321000016-${'A'.repeat(19)}`,
  ],
  no_hpr: ['1234567890', '12-3', '１２'],
  us_npi: ['1000000005', '3000000002'],
  dk_sor: ['41501000016008', '4150100001600'],
  gb_ods: ['RX', 'RX-1', 'Æ123'],
};
const pairs = (lists: typeof valid) =>
  Object.entries(lists).flatMap(([type, all]) => all.map((it) => [type, it] as const));

test('each type that comes with the gateway has numbers here, or a file of its own', () => {
  const own = ['no_personal_number', 'se_personal_number', 'nhs_number'];
  const tested = Object.keys(invalid).concat(own);
  expect(
    builtInIdentifierTypes()
      .map(({ id }) => id)
      .toSorted(),
  ).toEqual(tested.toSorted());
});

test.each(pairs(valid))('%s takes %s, also in lower case and in every other spelling', (type, number) => {
  expect(read(type, number)).toBe(number);
  for (const it of spellingsOf({ type, value: number })) {
    expect(read(type, it)).toBe(number);
    expect(numberIn(type, it)).toBe(number);
  }
});

test.each(pairs(invalid))('%s does not take %j', (type, number) => {
  expect(read(type, number)).toBeUndefined();
});

test.each([
  ['fi_hetu', '010190-999W'],
  ['nz_nhi', 'ZZZ00AC'],
  ['nl_bsn', '999900006'],
])('%s takes %s only where the connection takes numbers of synthetic people', (type, number) => {
  expect(read(type, number, false)).toBeUndefined();
  expect(valueRule(type)?.expected).toContain('synthetic people');
});

test('HSA-ids are case-insensitive', () => {
  fc.assert(
    fc.property(hsaIds, (id) => {
      expect(read('hsa_id', id.toLowerCase())).toBe(id);
    }),
  );
});

describe('numbers as an EHR has them', () => {
  test.each([
    ['fi_hetu', ' 010190\u2011999w', '010190-999W'],
    ['fi_hetu', '010190 - 999W', '010190-999W'],
    ['dk_cpr', '251248\u20139996', '2512489996'],
    ['nl_bsn', '9999.00.006', '999900006'],
    ['fr_ins', '1 95 02 2A 999 001 54', '195022A99900154'],
    ['nz_nhi', 'zaa 0067', 'ZAA0067'],
  ])('as %s, %j is %s', (type, text, number) => {
    expect(numberIn(type, text)).toBe(number);
  });
});

/** Computed here, independently of what is tested: by the rules as their authorities describe them. */
const computed = {
  mod31_hetu: fc
    .tuple(digits(2), fc.constantFrom('-', 'U', 'Y', 'A', 'F', '+'), fc.integer({ min: 900, max: 999 }))
    .map(([year, sign, individual]) => {
      const number = Number(`0112${year}${individual}`);
      return `0112${year}${sign}${individual}${'0123456789ABCDEFHJKLMNPRSTUVWXY'[number % 31]}`;
    }),
  mod11_10to2: digits(7)
    .map((it) => withNhsCheckDigit(`32${it}`))
    .filter((it) => it !== undefined),
  luhn: digits(9)
    .map(withLuhnCheckDigit)
    .map((it) => it),
  kvnr: fc.tuple(fc.integer({ min: 1, max: 26 }), digits(8)).map(([letter, rest]) => {
    const sum = [...String(letter).padStart(2, '0'), ...rest].reduce((total, digit, index) => {
      const product = Number(digit) * (index % 2 === 0 ? 1 : 2);
      return total + Math.floor(product / 10) + (product % 10);
    }, 0);
    return `${String.fromCharCode(64 + letter)}${rest}${sum % 10}`;
  }),
  elfproef: digits(4)
    .map((it) => {
      const eight = `9999${it}`;
      const sum = [...eight].reduce((total, digit, index) => total + Number(digit) * (9 - index), 0);
      return sum % 11 === 10 ? undefined : `${eight}${sum % 11}`;
    })
    .filter((it) => it !== undefined),
  mod97_nir: digits(8).map((it) => {
    const number = `19902${it}`;
    return `${number}${String(97 - (Number(number) % 97)).padStart(2, '0')}`;
  }),
} as const;

describe.each(Object.entries(computed))('%s', (name, numbers) => {
  const check = checks[name as keyof typeof computed];

  test('takes every computed number, and none with another digit or letter at the end', () => {
    fc.assert(
      fc.property(numbers, (number) => {
        expect(check(number)).toBe(true);
        const last = number.slice(-1);
        const others = /\d/.test(last) ? '0123456789' : 'ABCDEFHJKLMNPRSTUVWXY';
        for (const other of others) if (other !== last) expect(check(number.slice(0, -1) + other)).toBe(false);
      }),
    );
  });
});

/** The part before the last character, and what the last one can be. */
const bodies: Partial<Record<keyof typeof checks, readonly [body: fc.Arbitrary<string>, last: string]>> = {
  luhn: [digits(15), '0123456789'],
  luhn_80840: [digits(9), '0123456789'],
  mod11_orgnr: [digits(8), '0123456789'],
  isikukood: [digits(10), '0123456789'],
  gs1: [digits(12), '0123456789'],
  verhoeff: [digits(14), '0123456789'],
  nhi: [digits(2).map((it) => `ZAA${it}Q`), 'ABCDEFGHJKLMNPQRSTUVWXY'],
  codice_fiscale: [digits(3).map((it) => `XXXXXX70R43X${it}`), 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'],
  dni23: [digits(8), 'TRWAGMYFPDXBNJZSQVHLCKE'],
};

test.each(Object.entries(bodies))('the check %s takes one last character, and no other', (name, [body, last]) => {
  const check = checks[name as keyof typeof checks];
  fc.assert(
    fc.property(body, (it) => {
      const taken = [...last].filter((character) => check(it + character));
      expect(taken.length).toBeLessThanOrEqual(1);
      // By modulus 11, some numbers are not used.
      if (name !== 'mod11_orgnr') expect(taken.length).toBe(1);
    }),
  );
});

test('Verhoeff finds each wrong digit and each swap of neighbours', () => {
  const numbers = digits(14).map((it) => [...'0123456789'].map((last) => it + last).find(checks.verhoeff) ?? '');
  fc.assert(
    fc.property(
      numbers.chain((it) => fc.tuple(fc.constant(it), withOneDigitChanged(it))),
      ([number, changed]) => {
        expect(checks.verhoeff(changed)).toBe(false);
        for (const swapped of withNeighboursSwapped(number)) expect(checks.verhoeff(swapped)).toBe(false);
      },
    ),
  );
});

describe('agrees with stdnum', () => {
  const opinions: readonly [type: string, country: string, name: string, numbers: fc.Arbitrary<string>][] = [
    ['fi_hetu', 'FI', 'hetu', computed.mod31_hetu.filter((it) => !/[+A-F]/.test(it.charAt(6)))],
    ['nl_bsn', 'NL', 'bsn', digits(5).map((it) => `9999${it}`)],
    ['fr_ins', 'FR', 'nir', computed.mod97_nir],
    ['it_cf', 'IT', 'codicefiscale', fc.constantFrom('XXXXXX00A01X999M', 'XXXXXX00A01X999N', 'XXXXXX00A41X999Q')],
  ];
  test.each(opinions)('about %s', (type, country, name, numbers) => {
    const other = stdnum[country]?.[name];
    if (!other) throw new Error('stdnum does not know it');
    fc.assert(
      fc.property(numbers, (it) => {
        expect(read(type, it) !== undefined).toBe(other.validate(it).isValid);
      }),
    );
  });

  test('about the numbers of countries that declare their own types', () => {
    for (const number of ['59912310001', '59912310002', '69912319998']) {
      expect(checks.isikukood(number)).toBe(stdnum.EE?.ik?.validate(number).isValid);
    }
    for (const number of ['00000000T', '00000000A']) {
      expect(checks.dni23(number)).toBe(stdnum.ES?.dni?.validate(number).isValid);
    }
  });
});

test.each([
  ['medicare_au', '32788511952', '32788511852'],
  ['mod11_bc_phn', '9000000000', '9000000001'],
  ['mod11_bc_phn', '9999999998', '9999999999'],
  ['mod11_orgnr', '974760673', '974760674'],
  ['gs1', '4006381333931', '4006381333932'],
  ['dni23', 'X0000000T', 'X0000000R'],
] as const)('the check %s takes %s, and not %s', (check, right, wrong) => {
  expect(checks[check](right)).toBe(true);
  expect(checks[check](wrong)).toBe(false);
});

describe('texts', () => {
  const national = pairs(valid).filter(([type]) => identifierType(type)?.national);

  test.each(national)('%s %s stays in none, in whatever spelling', (type, number) => {
    for (const it of [...spellingsOf({ type, value: number }), number.replaceAll('-', '\u2011')]) {
      expect(withoutNationalNumbers(`The time of (${it}), was taken.`)).toBe('The time of (…), was taken.');
    }
  });

  test('words, and numbers with wrong check digits, stay', () => {
    const text = 'Room ZAA0068, order 999900007, card X123456789, HPR 9999999, RXX, 010190-999Y, id AZAA0067B.';
    expect(withoutNationalNumbers(text)).toBe(text);
  });
});

test('no two types share a system, and each pattern can be read', () => {
  const systems = builtInIdentifierTypes().flatMap((it) => it.systems);
  expect(new Set(systems).size).toBe(systems.length);
  for (const { pattern, groups, temporary, synthetic, systems } of builtInIdentifierTypes()) {
    const lengths = valuePattern(pattern).alternatives.map((it) => it.reduce((sum, { most }) => sum + most, 0));
    if (groups) expect(new Set(lengths)).toEqual(new Set([groups.reduce((sum, it) => sum + it, 0)]));
    if (temporary) expect(systems).toContain(temporary.system);
    for (const it of [temporary?.pattern, synthetic]) if (it !== undefined) valuePattern(it);
  }
});
