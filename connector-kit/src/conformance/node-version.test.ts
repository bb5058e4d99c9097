import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { assertNodeVersion } from './node-version.ts';

test('a Node.js that is too old is named, and the oldest one is that of the package', async () => {
  expect(() => assertNodeVersion('20.19.5')).toThrow('needs Node.js 22 or newer, and this is 20.19.5');
  expect(() => assertNodeVersion('22.0.0')).not.toThrow();
  expect(() => assertNodeVersion()).not.toThrow();
  const { engines } = JSON.parse(await readFile(new URL('../../package.json', import.meta.url), 'utf8'));
  expect(engines.node).toBe('>=22');
});
