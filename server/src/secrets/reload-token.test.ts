import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { createKeyRing } from './key-ring.ts';
import { checkReloadTokens, reloadToken } from './reload-token.ts';

const [key, former] = [randomBytes(32), randomBytes(32)];
const now = Date.parse('2030-03-15T09:00:00Z');

test('a token is taken once', () => {
  const isValid = checkReloadTokens(createKeyRing([key, former]));
  const token = reloadToken(createKeyRing([former]), false, now);
  expect([isValid(token, false, now), isValid(token, false, now + 59_000)]).toEqual([true, false]);
});

test.each([
  ['for a minute', reloadToken(createKeyRing([key]), false, now), 60_001],
  ['only later by as much', reloadToken(createKeyRing([key]), false, now + 60_001), 0],
  ['of the secret key', reloadToken(createKeyRing([former]), false, now), 0],
  ['for what it was made', reloadToken(createKeyRing([key]), true, now), 0],
  ['as it is', `${now}.guess`, 0],
  ['that is one', '', 0],
])('a token is valid %s', (_, token, laterMs) => {
  expect(checkReloadTokens(createKeyRing([key]))(token, false, now + laterMs)).toBe(false);
});
