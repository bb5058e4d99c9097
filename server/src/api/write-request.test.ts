import fc from 'fast-check';
import type { FastifyRequest } from 'fastify';
import { expect, test } from 'vitest';
import { fingerprintsOf } from './write-request.ts';

const requestWith = (body: unknown, headers: Readonly<Record<string, readonly string[]>> = {}) =>
  ({
    method: 'POST',
    raw: { url: '/api', headersDistinct: headers },
    params: {},
    query: {},
    headers: {},
    body,
  }) as unknown as FastifyRequest;
const of = (text: string) => fingerprintsOf(requestWith(JSON.parse(text)));

/** JSON text of a value, with the members of each object in an order that `rotation` changes. */
function textOf(value: unknown, rotation: number): string {
  if (Array.isArray(value)) return `[${value.map((it) => textOf(it, rotation)).join()}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value).map(([name, it]) => `${JSON.stringify(name)}:${textOf(it, rotation)}`);
  const at = members.length && rotation % members.length;
  return `{${[...members.slice(at), ...members.slice(0, at)].join()}}`;
}

test('the first one is the same for each order of members, at any depth', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 4 }), fc.nat(), fc.nat(), (value, one, other) => {
      expect(of(textOf(value, one))[0]).toBe(of(textOf(value, other))[0]);
    }),
  );
});

test.each([
  ['numbers are compared, not their digits', '{"a":1,"b":100}', '{"b":1e2,"a":1.0}', true],
  ['characters are compared, not their escapes', '{"å":"å","a":0}', '{"a":0,"\\u00e5":"\\u00e5"}', true],
  [
    'FHIR',
    '{"resourceType":"A","id":"1","x":[{"y":1,"z":2}]}',
    '{"x":[{"z":2,"y":1}],"id":"1","resourceType":"A"}',
    true,
  ],
  ['a member named __proto__', '{"__proto__":{"a":1,"b":2},"c":3}', '{"c":3,"__proto__":{"b":2,"a":1}}', true],
  ['names that are numbers', '{"10":1,"9":2,"a":3}', '{"a":3,"9":2,"10":1}', true],
  ['elements of a list have an order', '{"a":[1,2]}', '{"a":[2,1]}', false],
  ['a list is no object', '{"a":["x"]}', '{"a":{"0":"x"}}', false],
  ['a text is no number', '{"a":1}', '{"a":"1"}', false],
  ['null is not the absence of a member', '{"a":null}', '{}', false],
  ['a member of the name __proto__ counts', '{"__proto__":{"a":1}}', '{"__proto__":{"a":2}}', false],
  ['other code points are another text', '{"a":"å"}', '{"a":"a\\u030a"}', false],
])('%s', (_, one, other, isSame) => {
  expect(of(one)[0] === of(other)[0]).toBe(isSame);
});

test('the values of referenced headers count, in whatever order they are named', () => {
  const headers = { 'x-a': ['1'], 'x-b': ['2'] };
  const [first] = fingerprintsOf(requestWith({ p: 'header:x-a', q: 'header:x-b' }, headers));
  expect(fingerprintsOf(requestWith({ q: 'header:x-b', p: 'header:x-a' }, headers))[0]).toBe(first);
  const swapped = { 'x-a': ['2'], 'x-b': ['1'] };
  expect(fingerprintsOf(requestWith({ p: 'header:x-a', q: 'header:x-b' }, swapped))[0]).not.toBe(first);
});

test('the second one is what version 0.1.0 stored', () => {
  expect(of('{"b":{"d":1,"c":2},"a":3}')[1]).toBe('["POST","/api",{"b":{"d":1,"c":2},"a":3},[],null]');
  expect(of('{"a":3,"b":{"c":2,"d":1}}')).toEqual(['["POST","/api",{"a":3,"b":{"c":2,"d":1}},[],null]']);
});
