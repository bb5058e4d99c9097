import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createKeyRing } from '../secrets/key-ring.ts';
import { type CursorBinding, createCursors, page, pageOfAll } from './paging.ts';

const key = randomBytes(32);
const cursors = createCursors(createKeyRing([key]));
const binding: CursorBinding = { clientId: 'acme', operationId: 'list_things', filters: ['a', null, ['b']] };
const invalid = expect.objectContaining({ reason: 'cursor_invalid', status: 400 });

describe('a cursor', () => {
  test('returns its position', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(fc.string({ unit: 'binary' }), fc.integer(), fc.constant(null))), (position) => {
        const opened = cursors.open(cursors.seal(position, binding), binding);
        expect(opened).toEqual(JSON.parse(JSON.stringify(position)));
      }),
    );
  });

  test.each([
    ['client', { ...binding, clientId: 'other' }],
    ['operation', { ...binding, operationId: 'list_others' }],
    ['filter', { ...binding, filters: ['a', null, ['c']] }],
    ['missing filter', { ...binding, filters: ['a', null] }],
    ['shape of filters', { ...binding, filters: ['a', null, 'b'] }],
  ])('is invalid for another %s', (_, other) => {
    expect(() => cursors.open(cursors.seal(['x'], binding), other)).toThrow(invalid);
  });

  test('is invalid with any bit changed', () => {
    const bytes = Buffer.from(cursors.seal(['2026-03-20', 'r-1'], binding), 'base64url');
    for (let bit = 0; bit < bytes.length * 8; bit++) {
      const changed = Buffer.from(bytes);
      changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      expect(() => cursors.open(changed.toString('base64url'), binding)).toThrow(invalid);
    }
  });

  test('is invalid if truncated, extended or invented', () => {
    const cursor = cursors.seal(['x'], binding);
    for (let length = 0; length < cursor.length; length++) {
      expect(() => cursors.open(cursor.slice(0, length), binding)).toThrow(invalid);
    }
    expect(() => cursors.open(`${cursor}AA`, binding)).toThrow(invalid);
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (text) => {
        expect(() => cursors.open(text, binding)).toThrow(invalid);
      }),
    );
  });

  test('is valid after the key is replaced, while the old key is configured', () => {
    const cursor = cursors.seal(['x'], binding);
    const rotated = createCursors(createKeyRing([randomBytes(32), key]));
    expect(rotated.open(cursor, binding)).toEqual(['x']);
    const forgotten = createCursors(createKeyRing([randomBytes(32)]));
    expect(() => forgotten.open(cursor, binding)).toThrow(invalid);
  });
});

describe('pages', () => {
  test('together contain every entry, and the last page has no cursor', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(fc.string({ minLength: 1, maxLength: 4 }), { maxLength: 30 }),
        fc.integer({ min: 1, max: 12 }),
        async (ids, limit) => {
          const all = ids.map((id) => ({ id }));
          const seen: string[] = [];
          for (let cursor: string | undefined; ; ) {
            const request = cursor === undefined ? { limit } : { limit, cursor };
            const { entries, next_cursor } = await pageOfAll(cursors, request, binding, all);
            seen.push(...entries.map(({ id }) => id));
            if (next_cursor === null) break;
            expect(entries).toHaveLength(limit);
            cursor = next_cursor;
          }
          expect(seen).toEqual([...ids].sort((a, b) => (a < b ? -1 : 1)));
        },
      ),
    );
  });

  test('load one entry more than the limit, which is 100 by default', async () => {
    const limits: number[] = [];
    const load = async (_after: unknown, limit: number) => {
      limits.push(limit);
      return [1, 2, 3];
    };
    const result = await page(cursors, { limit: 2 }, binding, (entry) => [entry], load);
    expect(result).toEqual({ entries: [1, 2], next_cursor: expect.any(String) });
    expect(await page(cursors, {}, binding, (entry) => [entry], load)).toEqual({
      entries: [1, 2, 3],
      next_cursor: null,
    });
    expect(limits).toEqual([3, 101]);
  });
});
