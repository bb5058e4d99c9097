import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { base64Decoder } from './base64.ts';
import { splitJson } from './split-json.ts';

/** Splits a text that arrives in pieces of this size. */
function split(text: string, size = 1): { rest: string; content: string | undefined } {
  const bytes = Buffer.from(text);
  const splitter = splitJson('content');
  const rest: Buffer[] = [];
  let content = '';
  for (let from = 0; from < bytes.length; from += size) {
    rest.push(
      splitter.push(bytes.subarray(from, from + size), (part) => {
        content += part;
      }),
    );
  }
  return { rest: Buffer.concat(rest).toString(), content: splitter.isFound ? content : undefined };
}

describe('splitting', () => {
  test.each([
    ['{"content":"abc"}', '{"content":""}', 'abc'],
    ['{ "content" : "abc" , "a":1}', '{ "content" : "" , "a":1}', 'abc'],
    ['{"a":"content","content":"abc"}', '{"a":"content","content":""}', 'abc'],
    ['{"a":{"content":"x"},"content":"abc"}', '{"a":{"content":"x"},"content":""}', 'abc'],
    ['{"a":["content","x"],"content":"abc"}', '{"a":["content","x"],"content":""}', 'abc'],
    ['{"a\\"content":"x","content":"abc"}', '{"a\\"content":"x","content":""}', 'abc'],
    ['{"c\\u006fntent":"a\\/b\\u002bc"}', '{"c\\u006fntent":""}', 'a/b+c'],
    ['{"content":5,"a":"b"}', '{"content":5,"a":"b"}', undefined],
    ['{"content":null,"a":"b"}', '{"content":null,"a":"b"}', undefined],
    ['{"content":["x"],"a":"b"}', '{"content":["x"],"a":"b"}', undefined],
    ['{"content":{"content":"x"}}', '{"content":{"content":"x"}}', undefined],
    ['["content","x"]', '["content","x"]', undefined],
    ['[{"content":"x"}]', '[{"content":"x"}]', undefined],
    ['"content"', '"content"', undefined],
    ['{"content":"abc","content":"x"}', '{"content":"","content":"x"}', 'abc'],
    ['{"content":"abc', '{"content":"', 'abc'],
    ['{"Content":"abc"}', '{"Content":"abc"}', undefined],
  ])('%s', (text, rest, content) => {
    for (const size of [1, 2, 3, 1000]) expect(split(text, size)).toEqual({ rest, content });
  });

  test('gives the same as JSON.parse for any object', () => {
    const value = fc.dictionary(fc.constantFrom('content', 'title', 'a"b', 'ø'), fc.jsonValue({ maxDepth: 3 }), {
      noNullPrototype: true,
    });
    fc.assert(
      fc.property(value, fc.integer({ min: 1, max: 9 }), (object, size) => {
        // The content is ASCII, as base64 is; any other is rejected later.
        if (typeof object.content === 'string') object.content = Buffer.from(object.content).toString('base64');
        const { rest, content } = split(JSON.stringify(object), size);
        const isText = typeof object.content === 'string';
        expect(content).toBe(isText ? object.content : undefined);
        expect(JSON.parse(rest)).toEqual(JSON.parse(JSON.stringify(isText ? { ...object, content: '' } : object)));
      }),
    );
  });
});

describe('base64', () => {
  function decode(text: string, size: number): Buffer {
    const decoder = base64Decoder('/content');
    const parts: Buffer[] = [];
    for (let from = 0; from < text.length; from += size) parts.push(decoder.push(text.slice(from, from + size)));
    return Buffer.concat([...parts, decoder.end()]);
  }

  test('is decoded in pieces of any size', () => {
    fc.assert(
      fc.property(fc.uint8Array(), fc.integer({ min: 1, max: 9 }), (bytes, size) => {
        expect(decode(Buffer.from(bytes).toString('base64'), size).equals(bytes)).toBe(true);
      }),
    );
  });

  test.each(['a', 'ab', 'abc', 'abcde', 'a===', '=', '====', 'ab=c', 'ab==cd==', 'ab c', 'ab\n', 'a-_b', 'æ'])(
    'is not %j',
    (text) => {
      for (const size of [1, 2, 3, 100]) {
        expect(() => decode(text, size)).toThrow(
          expect.objectContaining({
            reason: 'request_invalid',
            faults: [expect.objectContaining({ place: { in: 'body', pointer: '/content' } })],
          }),
        );
      }
    },
  );
});
