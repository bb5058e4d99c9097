import { generateKeyPairSync } from 'node:crypto';
import { expect, test } from 'vitest';
import { keyMistakes, usableKeys } from './client-keys.ts';

const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-384' });
const key = { ...publicKey.export({ format: 'jwk' }), kid: 'a' };
const privateJwk = { ...privateKey.export({ format: 'jwk' }), kid: 'a' };
const rsa = (modulusLength: number) => ({
  ...generateKeyPairSync('rsa', { modulusLength }).publicKey.export({ format: 'jwk' }),
  kid: 'a',
});
const p256 = generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export({ format: 'jwk' });
const ed = generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' });

const textsOf = (jwks: unknown) => keyMistakes({ jwks }, [], false).map(({ text }) => text);

test('public keys of three types are accepted', () => {
  const keys = [key, { ...rsa(2048), kid: 'b', use: 'sig', alg: 'RS384' }, { ...ed, kid: 'c', key_ops: ['verify'] }];
  expect(textsOf({ keys })).toEqual([]);
  expect(usableKeys({ keys: [...keys, privateJwk, { kty: 'oct', k: 'AAAA' }, 1] })).toEqual(keys);
});

test.each([
  ['a private key', privateJwk, /is a private key: it has the member "d"/],
  ['a symmetric key', { kty: 'oct', kid: 'a', k: 'c2VjcmV0' }, /is a symmetric key/],
  ['a short RSA key', rsa(1024), /at least 2048 bits/],
  ['another curve', { ...p256, kid: 'a' }, /"crv" P-384/],
  ['no kid', { ...key, kid: undefined }, /must have a "kid"/],
  ['another use', { ...key, use: 'enc' }, /"use" other than "sig"/],
  ['a public key that says it signs', { ...rsa(2048), key_ops: ['verify', 'sign'] }, /"key_ops" \["verify"\], or none/],
  ['another algorithm', { ...key, alg: 'ES256' }, /"alg" ES384/],
  ['another type', { kty: 'EX', kid: 'a' }, /"kty" RSA, EC or OKP/],
  ['numbers of no key', { ...key, x: 'AAAA' }, /numbers are missing or wrong/],
  ['text', 'kanari', /must be a JWK/],
])('%s is rejected, without its values', (_name, wrong, text) => {
  const [found = ''] = textsOf({ keys: [wrong] });
  expect(found).toMatch(text);
  expect(found).not.toContain(privateJwk.d);
  expect(found).not.toContain('c2VjcmV0');
});

test('a set needs keys, and a kid for each', () => {
  for (const jwks of [{}, { keys: [] }, [], 'kanari', { keys: Array.from({ length: 11 }, () => key) }]) {
    expect(textsOf(jwks)[0]).toMatch(/must be a JWK Set/);
  }
  expect(textsOf({ keys: [key, key] })).toEqual(['has the "kid" of another key in the set']);
});

test('a jwks_uri has TLS, unless the operator allows plain HTTP, and replaces jwks', () => {
  const jwks_uri = 'http://app.example/jwks.json';
  expect(keyMistakes({ jwks_uri }, [], false)).toMatchObject([{ path: ['jwks_uri'] }]);
  expect(keyMistakes({ jwks_uri }, [], true)).toEqual([]);
  const both = { jwks_uri: 'https://app.example/jwks.json', jwks: { keys: [key] } };
  expect(keyMistakes(both, ['clients', 0], false)).toMatchObject([{ path: ['clients', 0, 'jwks_uri'] }]);
});
