import { randomBytes, randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { createKeyRing } from '../secrets/key-ring.ts';
import { hashOfToken, isLinkToken } from '../secrets/link-token.ts';
import { createPageLinks } from './page-links.ts';

const url = 'https://appointments.example.org/clinic';
const [older, newer] = [randomBytes(32), randomBytes(32)];
const tokenOf = (link: string | null) => link?.split('/').at(-1) ?? '';

test('a link has a token whose hash is stored', () => {
  const links = createPageLinks(createKeyRing([older]), url);
  const id = randomUUID();
  const hash = links.hashFor(id);
  const link = links.urlOf(id, hash);
  expect(link).toMatch(/^https:\/\/appointments\.example\.org\/clinic\/c\/[A-Za-z0-9_-]{24}$/);
  expect(isLinkToken(tokenOf(link))).toBe(true);
  expect(hashOfToken(tokenOf(link))).toEqual(hash);
});

test('a link survives a new secret key while the older one is known', () => {
  const id = randomUUID();
  const before = createPageLinks(createKeyRing([older]), url);
  const hash = before.hashFor(id);
  expect(createPageLinks(createKeyRing([newer, older]), url).urlOf(id, hash)).toBe(before.urlOf(id, hash));
  expect(createPageLinks(createKeyRing([newer]), url).urlOf(id, hash)).toBeNull();
});

test('each confirmation and each key has a token of its own', () => {
  const [one, other] = [older, newer].map((key) => createPageLinks(createKeyRing([key]), url));
  const id = randomUUID();
  expect(one?.hashFor(id)).not.toEqual(other?.hashFor(id));
  expect(one?.hashFor(id)).not.toEqual(one?.hashFor(randomUUID()));
});

test('there are no links without a public URL, nor for a confirmation from before', () => {
  const off = createPageLinks(createKeyRing([older]), undefined);
  const on = createPageLinks(createKeyRing([older]), url);
  const id = randomUUID();
  expect(off.hashFor(id)).toBeNull();
  expect(off.urlOf(id, on.hashFor(id))).toBeNull();
  expect(on.urlOf(id, null)).toBeNull();
});
