import { expect, test } from 'vitest';
import { exactSize } from './exact-size.ts';

/** A stream of chunks, with what a reader got and whether it was cancelled. */
async function read(lengths: readonly number[], size: number) {
  let isCancelled = false;
  async function* source() {
    let at = 0;
    try {
      for (; at < lengths.length; at++) yield Buffer.alloc(lengths[at] ?? 0);
    } finally {
      isCancelled = at < lengths.length;
    }
  }
  let received = 0;
  let kind: unknown;
  try {
    for await (const chunk of exactSize(source(), size)) received += chunk.length;
  } catch (error) {
    kind = (error as { readonly kind?: unknown }).kind;
  }
  return { received, kind, isCancelled };
}

test.each([
  [[], 0],
  [[3, 0, 4], 7],
])('chunks of %j bytes have the size %d', async (lengths, size) => {
  expect(await read(lengths, size)).toEqual({ received: size, kind: undefined, isCancelled: false });
});

test('one chunk too many is not passed on, and cancels the source', async () => {
  expect(await read([3, 4, 1, 1], 7)).toEqual({ received: 7, kind: 'rejected', isCancelled: true });
});

test('a stream that is too short fails', async () => {
  expect(await read([3], 7)).toEqual({ received: 3, kind: 'rejected', isCancelled: false });
});
