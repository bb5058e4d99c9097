import { describe, expect, test } from 'vitest';
import type { GatewayResponse } from '../gateway/gateway.ts';

type Headers = Readonly<Record<string, string | readonly string[]>>;

interface IdentifierParameter {
  readonly kind: 'patient' | 'resource';
  /** Location of the identifier. An unknown identifier is 404 in the path, 400 elsewhere. */
  readonly place: 'path' | 'query' | 'body';
  /** Parameter name. */
  readonly parameter: string;
  /** Sends a request to `sandbox-no` that is valid apart from this identifier. */
  send(text: string, headers?: Headers): Promise<GatewayResponse>;
  /** Whether the response shows that the identifier was found. */
  isFound(response: GatewayResponse): boolean;
}

/** Tests that apply wherever a patient or resource identifier is a parameter. */
export function identifierCases({ kind, place, parameter, send, isFound }: IdentifierParameter): void {
  const known = kind === 'patient' ? 'p-3' : 'r-1';
  const here = place === 'body' ? { pointer: `/${parameter}` } : { parameter };
  const notFound = { status: place === 'path' ? 404 : 400, reason: `${kind}_not_found` };

  async function expectProblem(
    text: string,
    headers: Headers,
    expected: { status: number; reason: string; at?: object },
  ) {
    const { status, reason, at = here } = expected;
    expect(await send(text, headers)).toMatchObject({ status, body: { reason, errors: [{ ...at, reason }] } });
  }

  describe(`${parameter} in the ${place}`, () => {
    test('is accepted with and without a type', async () => {
      for (const text of [known, `emr_id:${known}`]) expect(isFound(await send(text)), text).toBe(true);
    });

    test.each([
      ['an unknown value', 'nobody'],
      ['an unknown value with a type', 'emr_id:nobody'],
      ['a value with colons', 'emr_id:urn:oid:1.2'],
      ['different letter case', known.toUpperCase()],
      ['the name of a JavaScript property', '__proto__'],
      ['characters outside ASCII', 'ærlig å/ß %'],
      ['delimiters of a URL', 'a/../b?c#d'],
      ['200 characters', 'x'.repeat(200)],
    ])('is not found: %s', async (_, text) => {
      await expectProblem(text, {}, notFound);
    });

    test.each([
      ['an unknown type', 'EMR_ID:x'],
      ['a misspelled type', 'no_personel_number:15859000026'],
      ['a type without a value', 'emr_id:'],
      ['a colon without a type', ':x'],
      ['surrounding white space', ' x '],
      ['white space after the type', 'emr_id: x'],
      ['a control character', 'a\nb'],
      ['NUL', 'a\0b'],
      ['201 characters', 'x'.repeat(201)],
      ['a header without a name', 'header:'],
      ['an invalid header name', 'header:x y'],
    ])('is malformed: %s', async (_, text) => {
      await expectProblem(text, {}, { status: 400, reason: 'identifier_malformed' });
    });

    test('is rejected if the EHR does not support its type', async () => {
      const others =
        kind === 'patient'
          ? ['se_personal_number:191212121212', 'nhs_number:9990000018']
          : ['hsa_id:SE0000000000-1001', 'se_personal_number:196408233234', 'no_personal_number:15859000026'];
      for (const text of others) {
        await expectProblem(text, {}, { status: 400, reason: 'identifier_type_unsupported' });
      }
      // A type of resources is unknown for patients, and the reverse.
      const foreign = kind === 'patient' ? 'hsa_id:SE0000000000-1001' : 'nhs_number:9990000018';
      await expectProblem(foreign, {}, { status: 400, reason: 'identifier_malformed' });
    });

    if (kind === 'patient') {
      test('is rejected if its number is malformed', async () => {
        for (const number of ['15859000027', '1585900002', '99999999999', '15859000026x']) {
          await expectProblem(`no_personal_number:${number}`, {}, { status: 400, reason: 'identifier_malformed' });
        }
        expect(isFound(await send('no_personal_number:15859000026'))).toBe(true);
      });
    }

    test('can be read from a header whose name starts with x-, in any letter case', async () => {
      for (const [text, name, value] of [
        ['header:x-it', 'x-it', known],
        ['header:X-It', 'x-iT', `emr_id:${known}`],
        ["header:x-a!#$%&'*+-.^_`|~1", "x-a!#$%&'*+-.^_`|~1", known],
        ['header:x-it', 'x-it', `  ${known}\t`],
      ] as const) {
        expect(isFound(await send(text, { [name]: value })), text).toBe(true);
      }
    });

    test('is validated in the same way if it is read from a header', async () => {
      const at = { header: 'x-it' };
      await expectProblem('header:x-it', { 'x-it': 'nobody' }, notFound);
      // UTF-8 bytes, because Node.js sends headers as Latin-1.
      const utf8 = Buffer.from('ærlig').toString('latin1');
      await expectProblem('header:x-it', { 'x-it': utf8 }, notFound);
      await expectProblem('header:x-it', { 'x-it': 'oops:x' }, { status: 400, reason: 'identifier_malformed', at });
      await expectProblem(
        'header:x-it',
        { 'x-it': 'x'.repeat(201) },
        { status: 400, reason: 'identifier_malformed', at },
      );
      const unsupported = kind === 'patient' ? 'nhs_number:9990000018' : 'hsa_id:SE0000000000-1001';
      await expectProblem(
        'header:x-it',
        { 'x-it': unsupported },
        { status: 400, reason: 'identifier_type_unsupported', at },
      );
      // A reference must name an identifier, not another reference.
      const twice = { 'x-it': 'header:x-other', 'x-other': known };
      await expectProblem('header:x-it', twice, { status: 400, reason: 'identifier_malformed', at });
    });

    test('is rejected if the header is absent or empty', async () => {
      const at = { header: 'x-it' };
      await expectProblem('header:x-it', {}, { status: 400, reason: 'header_reference_missing', at });
      await expectProblem('header:x-it', { 'x-it': '' }, { status: 400, reason: 'header_reference_missing', at });
      await expectProblem('header:x-it', { 'x-it': ' \t' }, { status: 400, reason: 'header_reference_missing', at });
      await expectProblem(
        'header:x-__proto__',
        {},
        { status: 400, reason: 'header_reference_missing', at: { header: 'x-__proto__' } },
      );
    });

    test('is rejected if the header occurs twice or is not UTF-8', async () => {
      const at = { header: 'x-it' };
      const latin1 = Buffer.from('ærlig', 'latin1').toString('latin1');
      for (const value of [latin1, 'a\xff', '\xc0\x80', [known, known], [known, 'nobody']]) {
        await expectProblem('header:x-it', { 'x-it': value }, { status: 400, reason: 'identifier_malformed', at });
      }
    });

    test.each([
      'authorization',
      'Cookie',
      'proxy-authorization',
      'host',
      'connection',
      'content-type',
      'content-language',
      'accept',
      'accept-language',
      'user-agent',
      'forwarded',
      'x-forwarded-for',
      'x-real-ip',
      'x-original-url',
      'x-client-ip',
      'referer',
      'constructor',
      '__proto__',
      'idempotency-key',
      'x-request-id',
      'traceparent',
      'tracestate',
      'X-Service-Client-Id',
      'x-service-client-secret',
      'x-service-standard',
    ])('cannot be read from the header %s', async (name) => {
      const at = { header: name.toLowerCase() };
      await expectProblem(`header:${name}`, {}, { status: 400, reason: 'header_reference_forbidden', at });
    });
  });
}
