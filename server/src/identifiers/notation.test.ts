import { identifierTypesOf } from '@crossward/connector-kit';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { hsaIds, nhsNumbers, norwegianNumbers, swedishNumbers } from './arbitraries.ts';
import { IdentifierError } from './identifier-error.ts';
import {
  formatIdentifier,
  type IdentifierPolicy,
  parsePatientIdentifier,
  parseResourceIdentifier,
} from './notation.ts';

const forPatients: IdentifierPolicy = { types: identifierTypesOf('patient'), synthetic: true };
const forResources: IdentifierPolicy = { types: identifierTypesOf('resource'), synthetic: true };

function failure(attempt: () => unknown): IdentifierError {
  try {
    attempt();
  } catch (error) {
    if (error instanceof IdentifierError) return error;
    throw error;
  }
  throw new Error('was accepted');
}
const patientFailure = (text: string, policy = forPatients) => failure(() => parsePatientIdentifier(text, policy));
const resourceFailure = (text: string, policy = forResources) => failure(() => parseResourceIdentifier(text, policy));

/** Text that is valid as an internal identifier. */
const internal = fc
  .string({ unit: 'binary', minLength: 1, maxLength: 60 })
  .filter((text) => text.isWellFormed() && !/\p{Cc}/u.test(text) && text.trim() === text);

describe('patient identifiers', () => {
  test.each([
    ['19640823T323', '19640823T323'],
    ['19640823-p323', '19640823P323'],
    ['991981000010', '991981000010'],
    ['198108320014', '198108320014'],
    ['701063-2391', '197010632391'],
  ])('Swedish reserve number %s is accepted only where the connection allows it', (value, expected) => {
    const text = `se_personal_number:${value}`;
    const reserveNumbers = { ...forPatients, reserveNumbers: true };
    expect(parsePatientIdentifier(text, reserveNumbers)).toEqual({ type: 'se_personal_number', value: expected });
    if (value !== '701063-2391') expect(patientFailure(text).reason).toBe('identifier_malformed');
  });

  test.each([
    '19640823X323',
    '19640823T32',
    '1964082T3234',
    '19640823T3234',
    '9640823T323',
    '19640823+T323',
    // Wrong check digits: of Stockholm, of Carelink, and of a personal number.
    '991981000011',
    '198108320015',
    '197010632392',
  ])('%s is no reserve number', (value) => {
    const reserveNumbers = { ...forPatients, reserveNumbers: true };
    expect(patientFailure(`se_personal_number:${value}`, reserveNumbers).reason).toBe('identifier_malformed');
  });

  test.each([
    ['p-1', 'emr_id', 'p-1'],
    ['emr_id:p-1', 'emr_id', 'p-1'],
    ['emr_id:a:b', 'emr_id', 'a:b'],
    ['emr_id:header:x', 'emr_id', 'header:x'],
    ['a b', 'emr_id', 'a b'],
    ['no_personal_number:15859000026', 'no_personal_number', '15859000026'],
    ['no_personal_number:55859000281', 'no_personal_number', '55859000281'],
    ['se_personal_number:19121212-1212', 'se_personal_number', '191212121212'],
    ['se_personal_number:701063-2391', 'se_personal_number', '197010632391'],
    ['nhs_number:999 000 0018', 'nhs_number', '9990000018'],
    ['nhs_number:9990000026', 'nhs_number', '9990000026'],
  ])('%s', (text, type, value) => {
    expect(parsePatientIdentifier(text, forPatients)).toEqual({ type, value });
  });

  test.each([
    '',
    ':',
    ':p-1',
    'emr_id:',
    'nhs_number:',
    'EMR_ID:p-1',
    'Nhs_number:9990000018',
    'nhs_number :9990000018',
    'nhs_numbr:9990000018',
    'hsa_id:SE0000000000-1001',
    'header:x',
    'a:b',
    'p-1 ',
    ' p-1',
    'emr_id: p-1',
    'nhs_number: 9990000018',
    '\u00a0p-1',
    'p\u0000-1',
    'p-1\n',
    'p\u0085-1',
    'p\ud800-1',
    'nhs_number:9990000019',
    'nhs_number:nhs_number:9990000018',
  ])('%j is malformed', (text) => {
    expect(patientFailure(text).reason).toBe('identifier_malformed');
  });

  test('the century of a ten-digit Swedish number depends on the date', () => {
    const parse = (today: string) =>
      parsePatientIdentifier('se_personal_number:121212-1212', forPatients, new Date(today)).value;
    expect(parse('2012-12-11T12:00:00Z')).toBe('191212121212');
    expect(parse('2012-12-12T12:00:00Z')).toBe('201212121212');
  });

  test('synthetic numbers are malformed if the EHR does not accept them', () => {
    const policy = { ...forPatients, synthetic: false };
    expect(patientFailure('nhs_number:9990000018', policy).reason).toBe('identifier_malformed');
    expect(patientFailure('no_personal_number:15859000026', policy).reason).toBe('identifier_malformed');
  });

  test('a value has at most 200 characters, whether or not its type is written', () => {
    expect(parsePatientIdentifier('å'.repeat(200), forPatients).value).toHaveLength(200);
    expect(parsePatientIdentifier('😀'.repeat(200), forPatients).value).toHaveLength(400);
    expect(patientFailure('a'.repeat(201)).reason).toBe('identifier_malformed');
    expect(parsePatientIdentifier(`emr_id:${'a'.repeat(200)}`, forPatients).value).toHaveLength(200);
    expect(patientFailure(`emr_id:${'a'.repeat(201)}`).reason).toBe('identifier_malformed');
    expect(patientFailure('😀'.repeat(201)).reason).toBe('identifier_malformed');
  });
});

describe('resource identifiers', () => {
  test.each([
    ['r-1', 'emr_id', 'r-1'],
    ['hsa_id:se0000000000-1001', 'hsa_id', 'SE0000000000-1001'],
    ['se_personal_number:196408233234', 'se_personal_number', '196408233234'],
    ['no_personal_number:15859000026', 'no_personal_number', '15859000026'],
  ])('%s', (text, type, value) => {
    expect(parseResourceIdentifier(text, forResources)).toEqual({ type, value });
  });

  test('a type for patients only is an unknown prefix', () => {
    expect(resourceFailure('nhs_number:9990000018').reason).toBe('identifier_malformed');
  });
});

describe('types that the EHR does not support', () => {
  const policy = { types: ['emr_id', 'nhs_number'], synthetic: true } as const;

  test.each(['no_personal_number:15859000026', 'se_personal_number:nonsense', 'se_personal_number:'])(
    '%s is reported before its value is parsed',
    (text) => {
      const error = patientFailure(text, policy);
      expect(error.reason).toBe('identifier_type_unsupported');
      expect(error.detail).toBe('This EHR takes patient identifiers of these types only: emr_id, nhs_number.');
    },
  );

  test('hsa_id is unsupported for a resource, not unknown', () => {
    const error = resourceFailure('hsa_id:SE0000000000-1001', { types: ['emr_id'], synthetic: true });
    expect(error.reason).toBe('identifier_type_unsupported');
  });
});

describe('properties', () => {
  const patientTexts = fc.oneof(
    internal.map((value) => `emr_id:${value}`),
    fc
      .constantFrom(0, 40, 65, 80)
      .chain(norwegianNumbers)
      .map((value) => `no_personal_number:${value}`),
    swedishNumbers.map((value) => `se_personal_number:${value}`),
    nhsNumbers.map((value) => `nhs_number:${value}`),
  );
  const resourceTexts = fc.oneof(
    internal.map((value) => `emr_id:${value}`),
    swedishNumbers.map((value) => `se_personal_number:${value}`),
    hsaIds.map((value) => `hsa_id:${value}`),
  );

  test('formatted identifiers are parsed back, and normal forms do not change', () => {
    fc.assert(
      fc.property(patientTexts, (text) => {
        expect(formatIdentifier(parsePatientIdentifier(text, forPatients))).toBe(text);
      }),
    );
    fc.assert(
      fc.property(resourceTexts, (text) => {
        expect(formatIdentifier(parseResourceIdentifier(text, forResources))).toBe(text);
      }),
    );
  });

  test('a bare value equals one with the emr_id prefix', () => {
    fc.assert(
      fc.property(
        internal.filter((text) => !text.includes(':')),
        (text) => {
          expect(parsePatientIdentifier(text, forPatients)).toEqual({ type: 'emr_id', value: text });
        },
      ),
    );
  });

  test('text without a type prefix is never a number, and parsing throws only IdentifierError', () => {
    const anyText = fc.oneof(fc.string({ unit: 'binary' }), fc.stringMatching(/^[0-9 :+-]*$/), nhsNumbers);
    fc.assert(
      fc.property(anyText, (text) => {
        try {
          const { type } = parsePatientIdentifier(text, forPatients);
          expect(type).toBe('emr_id');
        } catch (error) {
          expect(error).toBeInstanceOf(IdentifierError);
        }
      }),
    );
  });

  test('an error does not contain the value', () => {
    const prefixes = fc.constantFrom(
      '',
      'unknown:',
      ...[...identifierTypesOf('patient'), 'hsa_id'].map((type) => `${type}:`),
    );
    const values = fc.oneof(
      fc.stringMatching(/^[0-9]{4,13}$/),
      fc.stringMatching(/^[0-9]{6}[-+ ][0-9]{4}$/),
      fc.string({ minLength: 1 }).map((text) => `\u0007${text}`),
      fc.string({ minLength: 201, maxLength: 300 }),
    );
    fc.assert(
      fc.property(prefixes, values, (prefix, value) => {
        for (const attempt of [
          () => parsePatientIdentifier(prefix + value, { types: ['emr_id', 'nhs_number'], synthetic: false }),
          () => parseResourceIdentifier(prefix + value, { types: ['emr_id', 'hsa_id'], synthetic: false }),
        ]) {
          try {
            attempt();
          } catch (error) {
            expect(error).toBeInstanceOf(IdentifierError);
            const { message, detail, header, cause } = error as IdentifierError;
            expect(message).not.toContain(value);
            expect(detail).not.toContain(value);
            expect({ header, cause }).toEqual({ header: undefined, cause: undefined });
          }
        }
      }),
    );
  });
});
