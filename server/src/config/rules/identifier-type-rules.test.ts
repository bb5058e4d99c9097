import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { declareIdentifierTypes, identifierType, identifierTypeSchema } from '@crossward/connector-kit';
import fc from 'fast-check';
import { afterEach, expect, test } from 'vitest';
import { IdentifierError } from '../../identifiers/identifier-error.ts';
import { parsePatientIdentifier } from '../../identifiers/notation.ts';
import { withoutNationalNumbers } from '../../identifiers/without-national-numbers.ts';
import { declareTypesIn, loadConfiguration } from '../file/load.ts';
import { clientSecret, errorFrom, load, mistakesIn, rightFile, temporaryFolder } from '../test-support.ts';

afterEach(() => declareIdentifierTypes([]));

const withTypes = (text: string) => `${rightFile}identifier_types:\n${text}`;
const estonian = String.raw`  - id: ee_ik
    name: Estonian personal code
    pattern: '[1-8]\d{10}'
    check: isikukood
    systems: ['https://fhir.ee/sid/pid/est/ni']
`;

test('a declared type is read, normalised, checked, and removed from texts', async () => {
  const { identifier_types } = await load(withTypes(estonian));
  expect(identifier_types).toEqual([identifierType('ee_ik')]);
  expect(identifierType('ee_ik')).toMatchObject({ of: ['patient'], national: true });
  const policy = { types: ['emr_id', 'ee_ik'], synthetic: false };
  expect(parsePatientIdentifier('ee_ik:59912310001', policy)).toEqual({ type: 'ee_ik', value: '59912310001' });
  for (const wrong of ['59912310002', '5991231000', '5991231-0001', '']) {
    expect(() => parsePatientIdentifier(`ee_ik:${wrong}`, policy)).toThrow(IdentifierError);
  }
  expect(withoutNationalNumbers('of 59912310001, not of 59912310002')).toBe('of …, not of 59912310002');
});

test('the next configuration has only its own types', async () => {
  await load(withTypes(estonian));
  await load(rightFile);
  expect(identifierType('ee_ik')).toBeUndefined();
});

test('groups, case, tests and temporary numbers are as declared', async () => {
  await load(
    withTypes(String.raw`  - id: zz_number
    name: A number
    of: both
    pattern: '[a-z]{2}\d{4}'
    groups: [2, 4]
    case_matters: true
    synthetic: 'zz\d{4}'
    systems: [urn:one, urn:two]
    temporary: { pattern: 'xx\d{4}', system: urn:two }
  - { id: zz_staff, name: A staff number, of: resource, pattern: '\d{1,5}' }
`),
  );
  const read = (text: string, synthetic = false) =>
    parsePatientIdentifier(`zz_number:${text}`, { types: ['zz_number'], synthetic }).value;
  for (const it of ['ab1234', 'ab 1234', 'ab-1234']) expect(read(it)).toBe('ab1234');
  for (const it of ['AB1234', 'zz1234', 'a-b1234', 'ab--1234']) expect(() => read(it)).toThrow(IdentifierError);
  expect(read('zz1234', true)).toBe('zz1234');
  expect(identifierType('zz_staff')).toMatchObject({ of: ['resource'], national: false, check: 'none', systems: [] });
});

test.each([
  ['id: EE_ik', 'id', 'must be two lower-case letters, an underscore, and 2 to 30'],
  ['id: nl_bsn', 'id', '"nl_bsn" comes with the gateway, and cannot be declared'],
  ['pattern: (a+)+', 'pattern', 'has something else than letters, digits, hyphens'],
  ['pattern: a.*', 'pattern', 'at character 2 of an alternative'],
  ["pattern: ''", 'pattern', 'must not be empty'],
  ["pattern: 'A|'", 'pattern', 'has an empty alternative'],
  ["pattern: '[Z-A]'", 'pattern', 'has a class whose range runs backwards: [Z-A]'],
  ["pattern: 'A{0}'", 'pattern', 'has a repetition of nothing'],
  ["pattern: 'A{3,2}'", 'pattern', 'has a repetition of nothing'],
  ["pattern: 'A{1,9}B{1,9}'", 'pattern', 'more than one repetition of variable length'],
  ["pattern: 'A{30}B{11}'", 'pattern', 'an alternative of more than 40 characters'],
  ["synthetic: '^9'", 'synthetic', 'at character 1 of an alternative'],
  ['groups: [4, 4]', 'groups', 'have 8 characters together, which each alternative of the pattern must have'],
  ['check: luhm', 'check', '"luhm" is unknown; must be one of none, luhn'],
  ["systems: ['urn:oid:1.2.246.21']", 'systems[0]', 'is already a system of fi_hetu'],
  ["temporary: { pattern: 'A', system: urn:x }", 'temporary.system', 'must be one of systems'],
  ['nationl: true', 'nationl', 'unknown key; did you mean "national"?'],
])('%s is a mistake with its place', async (line, place, text) => {
  const right: Record<string, string> = { id: 'zz_aa', name: 'A', pattern: "'\\d{9}'" };
  const [key = ''] = line.split(':');
  const others = Object.entries(right).filter(([name]) => name !== key);
  const type = [line, ...others.map(([name, value]) => `${name}: ${value}`)];
  const [found = '', ...further] = await mistakesIn(withTypes(`  - ${type.join('\n    ')}\n`));
  expect(further).toEqual([]);
  expect(found).toContain(`identifier_types[0].${place}: `);
  expect(found).toContain(text);
  expect(found).toMatch(/^crossward\.yaml:1[89]:\d+|^crossward\.yaml:2\d:\d+/);
});

test('two types share neither id nor system', async () => {
  const found = await mistakesIn(withTypes(`${estonian}${estonian}${estonian.replace('ee_ik', 'ee_other')}`));
  expect(found).toEqual([
    expect.stringContaining('identifier_types[1].id: "ee_ik" is already the id of identifier_types[0]'),
    expect.stringContaining('identifier_types[2].systems[0]: is already a system of ee_ik'),
  ]);
});

test('no pattern that is accepted is slow, whatever text it meets', () => {
  const part = fc
    .tuple(fc.constantFrom('a', 'A', '-', '\\d', '[A-Z-]', '[a0-9]'), fc.integer({ min: 1, max: 6 }))
    .map(([characters, most]) => `${characters}{${most}}`);
  const alternative = fc
    .tuple(fc.array(part, { minLength: 1, maxLength: 5 }), fc.boolean())
    .map(([parts, isVariable]) => {
      return parts.join('') + (isVariable ? 'A{1,9}' : '');
    });
  const patterns = fc.array(alternative, { minLength: 1, maxLength: 4 }).map((all) => all.join('|'));
  fc.assert(
    fc.property(patterns, fc.constantFrom('a', 'A', '-', '0', 'A-', 'a0'), (pattern, text) => {
      declareIdentifierTypes([
        { id: 'zz_aa', name: 'A', of: ['patient'], national: true, pattern, check: 'none', systems: [] },
      ]);
      // A text that would take an engine that backtracks without a limit longer than the time limit of a test.
      const long = text.repeat(5000);
      expect(withoutNationalNumbers(long).length).toBeLessThanOrEqual(long.length);
    }),
    { numRuns: 30 },
  );
});

test('settings of connectors name types that exist, and are for whom the setting is', async () => {
  const connector = {
    name: 'sandbox',
    settingsSchema: {
      type: 'object',
      properties: {
        country: {},
        patients: { type: 'array', items: identifierTypeSchema('patient') },
        systems: { type: 'object', propertyNames: identifierTypeSchema() },
      },
    },
    open: async () => Promise.reject(new Error('never opened')),
  };
  const path = join(await temporaryFolder(), 'crossward.yaml');
  const settings = (text: string) => writeFile(path, withTypes(estonian).replace('{ country: "NO" }', text));
  const loaded = () =>
    loadConfiguration({ path, connectors: [connector], environment: { ACME_CLIENT_SECRET: clientSecret } });

  await settings('{ patients: [ee_ik, dk_cpr], systems: { ee_ik: x, no_hpr: y } }');
  await expect(loaded()).resolves.toBeDefined();

  await settings('{ patients: [ee_ik, hsa_id, emr_id], systems: { ee_ki: x } }');
  const { mistakes } = await errorFrom(loaded());
  expect(mistakes.map((line) => line.replace(/^.*crossward\.yaml/, ''))).toEqual([
    expect.stringMatching(/^:5:\d+: emrs\[0\]\.settings\.patients\[1\]: must be a type of identifier of patients/),
    expect.stringMatching(/^:5:\d+: emrs\[0\]\.settings\.patients\[2\]: must be a type of identifier of patients/),
    expect.stringMatching(/^:5:\d+: emrs\[0\]\.settings\.systems\.ee_ki: must be a type of identifier: /),
  ]);
});

test('a program with nothing else of a configuration knows the types of a file, and says what is wrong with one', async () => {
  const file = async (text: string) => {
    const path = join(await temporaryFolder(), 'types.yaml');
    await writeFile(path, text);
    return path;
  };
  const text = 'Until 59912310001.';
  for (const content of [`identifier_types:\n${estonian}`, withTypes(estonian)]) {
    declareIdentifierTypes([]);
    expect(withoutNationalNumbers(text)).toBe(text);
    await declareTypesIn(await file(content));
    expect(withoutNationalNumbers(text)).toBe('Until ….');
  }
  const errors: readonly (readonly [string, string])[] = [
    ['emrs: []\n', 'identifier_types'],
    ['identifier_types: [', ':1:'],
    [`identifier_types:\n${estonian.replace('isikukood', 'sum')}`, 'identifier_types[0].check'],
    [`identifier_types:\n${estonian.replace('{10}', '{10')}`, 'identifier_types[0].pattern'],
  ];
  for (const [content, words] of errors) {
    await expect(declareTypesIn(await file(content))).rejects.toThrow(words);
  }
  await expect(declareTypesIn('/no-such-file')).rejects.toThrow('ENOENT');
});

test('check digits are ignored only where all numbers are invented, and other rules stay', async () => {
  const emr = (settings: string) =>
    rightFile.replace('    connector: sandbox\n', `    connector: sandbox\n${settings}`);
  expect((await load(emr('    synthetic_identifiers: true\n    check_digits: ignore\n'))).emrs[0]).toMatchObject({
    check_digits: 'ignore',
  });
  expect(await mistakesIn(emr('    check_digits: ignore\n'))).toEqual([
    expect.stringContaining('emrs[0].check_digits: needs synthetic_identifiers: true'),
  ]);
  const types = ['fi_hetu', 'nhs_number'];
  const read = (text: string, checkDigits?: 'ignore') =>
    parsePatientIdentifier(text, { types, synthetic: true, checkDigits }).value;
  expect(read('fi_hetu:010190-999Y', 'ignore')).toBe('010190-999Y');
  expect(() => read('fi_hetu:010190-999Y')).toThrow(IdentifierError);
  expect(() => read('fi_hetu:010190-99', 'ignore')).toThrow(IdentifierError);
  expect(() => read('nhs_number:9434765918', 'ignore')).toThrow(IdentifierError);
});
