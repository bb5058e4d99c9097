import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createKeyRing, type Purpose } from './key-ring.ts';

const [first, second] = [randomBytes(32), randomBytes(32)];

test('decrypts what it encrypted, for any text and context', () => {
  const ring = createKeyRing([first]);
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'grapheme' }), (plain, context) => {
      expect(ring.open('cursor', ring.seal('cursor', plain, context), context)).toBe(plain);
    }),
  );
});

test('does not reveal the text, and encrypts it differently each time', () => {
  const ring = createKeyRing([first]);
  const sealed = [ring.seal('cursor', 'plain text', 'context'), ring.seal('cursor', 'plain text', 'context')];
  for (const it of sealed) expect(it.toString('latin1')).not.toMatch(/plain|context/);
  expect(sealed[0]?.equals(sealed[1] ?? Buffer.alloc(0))).toBe(false);
});

test('needs the same context, purpose and key to decrypt', () => {
  const ring = createKeyRing([first]);
  const sealed = ring.seal('cursor', 'plain', 'context');
  expect(ring.open('cursor', sealed, 'other')).toBeUndefined();
  expect(ring.open('another' as Purpose, sealed, 'context')).toBeUndefined();
  expect(createKeyRing([second]).open('cursor', sealed, 'context')).toBeUndefined();
});

test('decrypts with old keys and encrypts with the newest', () => {
  const old = createKeyRing([first]);
  const rotated = createKeyRing([second, first]);
  expect(rotated.open('cursor', old.seal('cursor', 'plain', ''), '')).toBe('plain');
  const sealed = rotated.seal('cursor', 'plain', '');
  expect(old.open('cursor', sealed, '')).toBeUndefined();
  expect(createKeyRing([second]).open('cursor', sealed, '')).toBe('plain');
});

test('rejects text that was changed, truncated or invented', () => {
  const ring = createKeyRing([first]);
  const sealed = ring.seal('cursor', 'plain', 'context');
  for (let index = 0; index < sealed.length; index++) {
    const changed = Buffer.from(sealed);
    changed[index] = (changed[index] ?? 0) ^ 1;
    expect(ring.open('cursor', changed, 'context')).toBeUndefined();
    expect(ring.open('cursor', sealed.subarray(0, index), 'context')).toBeUndefined();
  }
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 100 }), (bytes) => {
      expect(ring.open('cursor', Buffer.from(bytes), 'context')).toBeUndefined();
      expect(ring.open('cursor', Buffer.concat([sealed.subarray(0, 4), bytes]), 'context')).toBeUndefined();
    }),
  );
});
