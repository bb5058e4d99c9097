import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { limitStream } from './limit-stream.ts';

const limits = { idleMs: 1000, totalMs: 10_000 };
const timedOut = { kind: 'timeout' };

/** A stream of an EHR, with what happened to it. */
function streamOf(next: (read: number) => Promise<Uint8Array | undefined>) {
  const state = { read: 0, isCancelled: false };
  const chunks: AsyncIterableIterator<Uint8Array> = {
    async next() {
      const value = await next(state.read++);
      return value ? { done: false, value } : { done: true, value: undefined };
    },
    async return() {
      state.isCancelled = true;
      return { done: true, value: undefined };
    },
    [Symbol.asyncIterator]: () => chunks,
  };
  return { state, ...limitStream(chunks, limits) };
}

async function isEnded({ ended }: { readonly ended: Promise<void> }): Promise<boolean> {
  return Promise.race([ended.then(() => true), vi.advanceTimersByTimeAsync(0).then(() => false)]);
}

const chunk = Buffer.from('x');

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('passes every chunk on, and ends with the source', async () => {
  const stream = streamOf(async (read) => (read < 3 ? chunk : undefined));
  expect(await isEnded(stream)).toBe(false);
  const read: Uint8Array[] = [];
  for await (const it of stream.chunks) read.push(it);
  expect(read).toHaveLength(3);
  expect(await isEnded(stream)).toBe(true);
  expect(vi.getTimerCount()).toBe(0);
});

test('ends when the reader leaves, and cancels the source', async () => {
  const stream = streamOf(async () => chunk);
  for await (const _ of stream.chunks) break;
  expect(stream.state.isCancelled).toBe(true);
  expect(await isEnded(stream)).toBe(true);
});

test('ends when the reader stops reading, and cancels the source', async () => {
  const stream = streamOf(async () => chunk);
  await stream.chunks.next();
  await vi.advanceTimersByTimeAsync(limits.idleMs);
  expect(await isEnded(stream)).toBe(true);
  expect(stream.state.isCancelled).toBe(true);
  await expect(stream.chunks.next()).rejects.toMatchObject(timedOut);
});

test('ends when nobody ever reads', async () => {
  const stream = streamOf(async () => chunk);
  await vi.advanceTimersByTimeAsync(limits.idleMs);
  expect(await isEnded(stream)).toBe(true);
  expect(stream.state.isCancelled).toBe(true);
});

test('ends when the source stops', async () => {
  const stream = streamOf(() => new Promise(() => undefined));
  const read = expect(stream.chunks.next()).rejects.toMatchObject(timedOut);
  await vi.advanceTimersByTimeAsync(limits.idleMs);
  await read;
  expect(await isEnded(stream)).toBe(true);
  expect(stream.state.isCancelled).toBe(true);
});

test('ends after its whole time, although both make progress', async () => {
  const stream = streamOf(async () => chunk);
  const reading = (async () => {
    for (;;) {
      await stream.chunks.next();
      await vi.advanceTimersByTimeAsync(limits.idleMs - 1);
    }
  })();
  await expect(reading).rejects.toMatchObject(timedOut);
  expect(stream.state.read).toBeGreaterThan(5);
  expect(await isEnded(stream)).toBe(true);
});

test('passes a failure of the source on', async () => {
  const stream = streamOf(async () => {
    throw new Error('broken');
  });
  await expect(stream.chunks.next()).rejects.toThrow('broken');
  expect(await isEnded(stream)).toBe(true);
});
