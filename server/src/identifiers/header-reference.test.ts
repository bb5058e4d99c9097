import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type ReadHeader,
  readPatientIdentifier,
  readResourceIdentifier,
  resolveHeaderReference,
} from './header-reference.ts';
import { IdentifierError } from './identifier-error.ts';
import { isReferable } from './referable-headers.ts';

const reader =
  (headers: Record<string, string | readonly string[]>, further: readonly string[] = []): ReadHeader =>
  (name) =>
    isReferable(name, new Set(further)) ? [(Object.hasOwn(headers, name) && headers[name]) || []].flat() : undefined;
const none = reader({});

function failure(attempt: () => unknown): IdentifierError {
  try {
    attempt();
  } catch (error) {
    if (error instanceof IdentifierError) return error;
    throw error;
  }
  throw new Error('was accepted');
}

describe('resolving a header reference', () => {
  test.each(['p-1', 'nhs_number:9990000018', 'Header:x-id', 'emr_id:header:x-id', 'headers:x', ''])(
    '%j is not a reference',
    (text) => {
      expect(resolveHeaderReference(text, none)).toEqual({ text, header: undefined });
    },
  );

  test('the name of the header is case-insensitive', () => {
    const resolved = resolveHeaderReference('header:X-Patient', reader({ 'x-patient': 'nhs_number:9990000018' }));
    expect(resolved).toEqual({ text: 'nhs_number:9990000018', header: 'x-patient' });
  });

  test.each(['', ' ', '\t'])('a header with the value %j counts as missing', (value) => {
    const error = failure(() => resolveHeaderReference('header:X-Patient', reader({ 'x-patient': value })));
    expect(error).toMatchObject({
      reason: 'header_reference_missing',
      header: 'x-patient',
      detail: 'The header x-patient is absent or empty.',
    });
  });

  test.each(['x-patient', 'x-constructor', 'x-__proto__'])('the header %s is missing if it was not sent', (name) => {
    const error = failure(() => resolveHeaderReference(`header:${name}`, none));
    expect(error).toMatchObject({ reason: 'header_reference_missing', header: name });
  });

  test.each([
    'authorization',
    'Authorization',
    'cookie',
    'proxy-authorization',
    'proxy-x',
    'host',
    'connection',
    'content-type',
    'content-length',
    'accept',
    'accept-language',
    'user-agent',
    'forwarded',
    'x-forwarded-for',
    'x-real-ip',
    'idempotency-key',
    'X-Request-Id',
    'traceparent',
    'tracestate',
    'x-service-secret',
    'x-service-client-id',
    'X-Forwarded-User',
    'x-original-url',
    'x-client-ip',
    'x-amzn-trace-id',
    'x-auth-request-user',
    'x-api-key',
    'referer',
    'origin',
    'patient',
    'x',
    'ax-patient',
    'constructor',
    '__proto__',
  ])('%s cannot be referenced, whether or not it was sent', (name) => {
    const error = failure(() => resolveHeaderReference(`header:${name}`, reader({ [name.toLowerCase()]: 'p-1' })));
    expect(error).toMatchObject({ reason: 'header_reference_forbidden', header: name.toLowerCase() });
  });

  test.each(['x-host', 'x-', 'x-accept', 'x-request-ids', 'x-services', 'x-patient-id'])(
    '%s can be referenced',
    (name) => {
      expect(resolveHeaderReference(`header:${name}`, reader({ [name]: 'p-1' })).text).toBe('p-1');
    },
  );

  test.each(['', ' x', 'x ', 'a b', 'a:b', 'å', 'a\u0000', 'a/b', 'header:x', 'a'.repeat(194)])(
    'the name %j is malformed',
    (name) => {
      const error = failure(() => resolveHeaderReference(`header:${name}`, none));
      expect(error).toMatchObject({ reason: 'identifier_malformed', header: undefined });
    },
  );

  test('a referenced header cannot contain a reference', () => {
    const error = failure(() => resolveHeaderReference('header:x-a', reader({ 'x-a': 'header:x-b', 'x-b': 'p-1' })));
    expect(error).toMatchObject({ reason: 'identifier_malformed', header: 'x-a' });
  });

  test('other names can be referenced if the configuration allows them', () => {
    const read = reader({ 'patient-number': 'p-1' }, ['patient-number']);
    expect(resolveHeaderReference('header:Patient-Number', read).text).toBe('p-1');
    expect(isReferable('patient-number', new Set())).toBe(false);
  });

  test('a header that is sent twice is rejected, even with equal values', () => {
    const error = failure(() => resolveHeaderReference('header:x-a', reader({ 'x-a': ['p-1', 'p-1'] })));
    expect(error).toMatchObject({ detail: 'The header x-a is sent more than once.', header: 'x-a' });
  });

  test('a value is decoded as UTF-8, and rejected if it is not UTF-8', () => {
    const bytes = (...values: number[]) => Buffer.from(values).toString('latin1');
    const utf8 = Buffer.from('ærlig').toString('latin1');
    expect(resolveHeaderReference('header:x-a', reader({ 'x-a': utf8 })).text).toBe('ærlig');
    for (const value of [bytes(0xe6), bytes(0x61, 0xff), bytes(0xc0, 0x80), bytes(0xed, 0xa0, 0x80)]) {
      const error = failure(() => resolveHeaderReference('header:x-a', reader({ 'x-a': value })));
      expect(error).toMatchObject({ reason: 'identifier_malformed', detail: 'The header x-a is not UTF-8.' });
    }
  });
});

describe('an identifier in place of the header name', () => {
  test.each(['15859000026', '19121212-1212', 'SE0000000000-1001', '1-5-8-5-9-0-0-0-0-2-6', `x-${'a'.repeat(39)}`])(
    '%s is not echoed',
    (name) => {
      const error = failure(() => resolveHeaderReference(`header:${name}`, none));
      expect(error.reason).toBeOneOf(['header_reference_missing', 'header_reference_forbidden']);
      expect(error.header).toBeUndefined();
      expect(error.detail).not.toContain(name.toLowerCase());
    },
  );

  test('a name with more than four digits is never echoed', () => {
    const names = fc.stringMatching(/^[A-Za-z0-9.-]{1,60}$/).filter((name) => name.replaceAll(/\D/g, '').length > 4);
    fc.assert(
      fc.property(names, fc.constantFrom('', 'x-', 'x-service-', 'proxy-'), (name, prefix) => {
        const error = failure(() => resolveHeaderReference(`header:${prefix}${name}`, none));
        expect(error.header).toBeUndefined();
        expect(error.message).not.toContain(name.toLowerCase());
      }),
    );
  });
});

describe('reading an identifier that may be a reference', () => {
  const patients = { types: ['emr_id', 'nhs_number'], synthetic: true } as const;
  const resources = { types: ['emr_id', 'hsa_id'], synthetic: true } as const;

  test('takes the value from a header', () => {
    expect(readPatientIdentifier('header:x-id', patients, reader({ 'x-id': 'nhs_number:999 000 0018' }))).toEqual({
      type: 'nhs_number',
      value: '9990000018',
    });
    expect(readResourceIdentifier('header:x-id', resources, reader({ 'x-id': 'r-1' }))).toEqual({
      type: 'emr_id',
      value: 'r-1',
    });
  });

  test('takes the value from the text itself', () => {
    expect(readPatientIdentifier('p-1', patients, none)).toEqual({ type: 'emr_id', value: 'p-1' });
    expect(failure(() => readPatientIdentifier('nhs_number:1', patients, none)).header).toBeUndefined();
  });

  test.each([
    ['nhs_number:1234567890', 'identifier_malformed'],
    ['Header:y', 'identifier_malformed'],
    ['se_personal_number:191212121212', 'identifier_type_unsupported'],
  ])('an error about the value %s names the header', (value, reason) => {
    const error = failure(() => readPatientIdentifier('header:X-Id', patients, reader({ 'x-id': value })));
    expect(error).toMatchObject({ reason, header: 'x-id' });
    expect(error.message).not.toContain(value);
  });

  test('an error about the value does not echo a header name that could be an identifier', () => {
    const error = failure(() =>
      readPatientIdentifier('header:x-15859000026', patients, reader({ 'x-15859000026': 'a:b' })),
    );
    expect(error.header).toBeUndefined();
  });
});
