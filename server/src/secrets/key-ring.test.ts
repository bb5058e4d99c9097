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

test('encrypts the same text in the same context to the same bytes, with one key alone', () => {
  const [old, rotated] = [createKeyRing([first]), createKeyRing([second, first])];
  const sealed = (text: string, context = 'one', ring = old) => ring.sealAlike('patient-token', text, context);
  expect(sealed('plain text').equals(sealed('plain text'))).toBe(true);
  expect(
    sealed('plain text').equals(createKeyRing([first, second]).sealAlike('patient-token', 'plain text', 'one')),
  ).toBe(true);
  const others = [sealed('plain texts'), sealed('plain text', 'other'), sealed('plain text', 'one', rotated)];
  for (const it of others) expect(sealed('plain text').subarray(4, 16).equals(it.subarray(4, 16))).toBe(false);
  expect(sealed('plain text').toString('latin1')).not.toContain('plain');
  expect(rotated.open('patient-token', sealed('plain text'), 'one')).toBe('plain text');
  expect(rotated.open('patient-token', sealed('plain text'), 'other')).toBeUndefined();
  expect(rotated.open('cursor', sealed('plain text'), 'one')).toBeUndefined();
  expect(createKeyRing([second]).open('patient-token', sealed('plain text'), 'one')).toBeUndefined();
});

test('a text that was encrypted alike cannot be changed', () => {
  const ring = createKeyRing([first]);
  const sealed = ring.sealAlike('patient-token', 'plain', 'context');
  for (let index = 0; index < sealed.length; index++) {
    const changed = Buffer.from(sealed);
    changed[index] = (changed[index] ?? 0) ^ 1;
    expect(ring.open('patient-token', changed, 'context')).toBeUndefined();
  }
});
