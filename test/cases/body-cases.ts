import { describe, expect, test } from 'vitest';
import type { Gateway, Problem } from '../gateway/gateway.ts';

interface BodyTarget {
  readonly gateway: Gateway;
  readonly method: string;
  path(): string;
  /** A valid body. Tests always alter it before sending. */
  readonly valid: Readonly<Record<string, unknown>>;
}

const mebibyte = 1024 * 1024;

/** Tests that apply to every request body: JSON in UTF-8, a supported content type, size limits, known fields only. */
export function bodyCases({ gateway, method, path, valid }: BodyTarget): void {
  const send = (body: string | Buffer | undefined, headers: Record<string, string | undefined> = {}) =>
    gateway.request<Problem>(method, path(), { body, headers });
  const text = JSON.stringify(valid);
  const withField = (name: string, value: string) => {
    const others = Object.entries(valid).filter(([it]) => it !== name);
    return `{${[...others.map(([it, other]) => `${JSON.stringify(it)}:${JSON.stringify(other)}`), `${JSON.stringify(name)}:${value}`]}}`;
  };

  describe('the body', () => {
    test.each([
      ['an empty body', ''],
      ['a truncated body', text.slice(0, -1)],
      ['text after the object', `${text}x`],
      ['two objects', `${text}${text}`],
      ['a trailing comma', `${text.slice(0, -1)},}`],
      ['single quotes', text.replaceAll('"', "'")],
      ['a form', 'patient_id=p-3'],
      ['XML', '<appointment/>'],
      ['NaN', '{"comment": NaN}'],
      ['a raw control character', '{"comment": "a\u0001b"}'],
      ['a comment', `/* */${text}`],
      ['invalid UTF-8', Buffer.concat([Buffer.from('{"comment": "'), Buffer.from([0xff, 0xfe]), Buffer.from('"}')])],
      [
        'a surrogate in UTF-8',
        Buffer.concat([Buffer.from('{"comment": "'), Buffer.from([0xed, 0xa0, 0x80]), Buffer.from('"}')]),
      ],
      ['Latin-1', Buffer.from('{"comment": "på"}', 'latin1')],
      ['UTF-16', Buffer.from(text, 'utf16le')],
    ])('must be JSON in UTF-8, not %s', async (_, body) => {
      expect(await send(body)).toMatchObject({
        status: 400,
        body: { reason: 'request_invalid', errors: [{ pointer: '', reason: 'request_invalid' }] },
      });
    });

    test('is required', async () => {
      expect(await send(undefined)).toMatchObject({ status: 400, body: { reason: 'request_invalid' } });
      const response = await send(undefined, { 'content-type': 'application/json', 'content-length': '0' });
      expect(response).toMatchObject({ status: 400, body: { reason: 'request_invalid' } });
    });

    test.each(['[]', `[${text}]`, 'null', '"text"', '7', 'true'])('must be an object, not %s', async (body) => {
      expect(await send(body)).toMatchObject({
        status: 400,
        body: { reason: 'request_invalid', errors: [{ pointer: '', reason: 'request_invalid' }] },
      });
    });

    test.each([
      'text/plain',
      'text/json',
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=x',
      'application/xml',
      'application/jsonx',
      'application/merge-patch+json',
      'nonsense',
      '*/*',
    ])('must not have the content type %s', async (type) => {
      expect(await send(text, { 'content-type': type })).toMatchObject({
        status: 415,
        body: { reason: 'media_type_unsupported' },
      });
    });

    test('must have a content type', async () => {
      expect(await send(text, { 'content-type': undefined })).toMatchObject({
        status: 415,
        body: { reason: 'media_type_unsupported' },
      });
    });

    test.each(['application/json; charset=utf-8', 'Application/JSON', 'application/json;charset="UTF-8"'])(
      'may have the content type %s',
      async (type) => {
        expect(await send('{}', { 'content-type': type })).toMatchObject({ body: { reason: 'request_invalid' } });
      },
    );

    test('must not exceed 1 MiB', async () => {
      const padded = (size: number) => `${' '.repeat(size - 3)}[1]`;
      expect(await send(padded(mebibyte))).toMatchObject({ status: 400, body: { reason: 'request_invalid' } });
      for (const size of [mebibyte + 1, 3 * mebibyte]) {
        expect(await send(padded(size))).toMatchObject({ status: 413, body: { reason: 'content_too_large' } });
      }
    });

    test.each(['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty'])(
      'rejects a field %s without polluting a prototype',
      async (name) => {
        for (const value of ['{"polluted":true}', '"x"', 'null', '{"prototype":{"polluted":true}}']) {
          expect(await send(withField(name, value))).toMatchObject({
            status: 400,
            body: { reason: 'request_invalid', errors: [{ reason: 'request_invalid' }] },
          });
        }
        expect(({} as Record<string, unknown>).polluted).toBeUndefined();
      },
    );

    test.each([
      ['"comment":"x","comment":"x"', '/comment'],
      ['"comment":"x","comm\\u0065nt":5', '/comment'],
      ['"comment":[{"a":1},{"a":1,"b":{},"a":2}]', '/comment/1/a'],
      ['"__proto__":1,"__proto__":2', '/__proto__'],
      ['"15859000026":1,"15859000026":2', ''],
      ['"comment":{"15859000026":{"a":1,"a":1}}', '/comment'],
    ])('rejects a field that occurs twice: %s', async (fields, pointer) => {
      const response = await send(`{${fields}}`);
      expect(response).toMatchObject({ status: 400, body: { reason: 'request_invalid', errors: [{ pointer }] } });
      expect(response.body.detail).toContain('more than once');
      expect(response.text).not.toContain('15859000026');
    });

    test.each(['1e999', '-1e999', '123456789012345678901234567890', '0.1e-400', '9007199254740993'])(
      'rejects the number %s in place of a string',
      async (number) => {
        expect(await send(withField('comment', number))).toMatchObject({
          status: 400,
          body: { reason: 'request_invalid', errors: [{ pointer: '/comment' }] },
        });
      },
    );

    test.each([33, 10_000, 250_000, 500_000])('rejects a depth of %i levels', async (depth) => {
      for (const [open, close] of [
        ['[', ']'],
        ['{"a":', '}'],
      ] as const) {
        const nested = `${open.repeat(depth)}1${close.repeat(depth)}`;
        for (const body of [nested, withField('comment', nested), open.repeat(depth)]) {
          if (body.length > mebibyte) continue;
          expect(await send(body)).toMatchObject({
            status: 400,
            body: { detail: 'The body is nested more than 32 levels deep.', errors: [{ pointer: '' }] },
          });
        }
      }
    });

    test('accepts a depth of 32 levels', async () => {
      const nested = `${'['.repeat(31)}1${']'.repeat(31)}`;
      expect(await send(withField('comment', nested))).toMatchObject({
        status: 400,
        body: { errors: [{ pointer: '/comment' }] },
      });
    });

    test.each([2001, 100_000])('rejects %i values', async (count) => {
      for (const values of [
        JSON.stringify(Array.from({ length: count - 1 }, () => 0)),
        withField('comment', JSON.stringify(Array.from({ length: count }, () => ({})))),
        JSON.stringify(Object.fromEntries(Array.from({ length: count }, (_, index) => [`f${index}`, '']))),
      ]) {
        if (values.length > mebibyte) continue;
        expect(await send(values)).toMatchObject({
          status: 400,
          body: { detail: 'The body contains more than 2000 values.', errors: [{ pointer: '' }] },
        });
      }
    });

    test('lists only the first twenty errors', async () => {
      const letters = (index: number) => [...String(index)].map((digit) => 'abcdefghij'[Number(digit)]).join('');
      const many = Object.fromEntries(Array.from({ length: 1500 }, (_, index) => [`x_${letters(index)}`, index]));
      const { status, body, text: problem } = await send(JSON.stringify(many));
      expect([status, body.reason, body.errors.length]).toEqual([400, 'request_invalid', 20]);
      expect(body.detail).toMatch(/ 1\d{3} more faults are not listed\.$/);
      expect(problem.length).toBeLessThan(10_000);
    });
  });
}
