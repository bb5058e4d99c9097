import { expect, test } from 'vitest';
import { type Change, markOf, readFeed } from './change-feed.ts';

const overlapMilliseconds = 100;

/** An EHR in which changes appear, each with a time stamp. */
function ehr() {
  const all: Change[] = [];
  return {
    change: (id: string, at: number) => void all.push({ at, mark: markOf(id, at) }),
    page: (after: string | undefined, now: number, limit = 50, cut = Number.POSITIVE_INFINITY) =>
      readFeed({
        after,
        limit,
        now: new Date(now),
        overlapMilliseconds,
        async read(since, atLeast) {
          const found = all.filter(({ at }) => at >= since.getTime()).sort((a, b) => a.at - b.at);
          const size = Math.max(atLeast ?? Number.POSITIVE_INFINITY, cut);
          return { changes: found.slice(0, size), isCut: found.length > size };
        },
      }),
  };
}

test('begins now, and returns each change once, also one that appears late within the overlap', async () => {
  const { change, page } = ehr();
  change('a', 950);
  const first = await page(undefined, 1_000);
  expect(first.fresh).toEqual([]);
  change('b', 1_010);
  const second = await page(first.next, 1_020);
  expect(second.fresh.map(({ at }) => at)).toEqual([1_010]);
  change('c', 940);
  const third = await page(second.next, 1_030);
  expect(third.fresh.map(({ at }) => at)).toEqual([940]);
  expect((await page(third.next, 1_040)).fresh).toEqual([]);
});

test('changes of one moment come in pages, and positions do not grow', async () => {
  const { change, page } = ehr();
  const { next } = await page(undefined, 0);
  for (let n = 0; n < 25; n++) change(`r-${n}`, 50);
  const seen: Change[] = [];
  let after = next;
  for (let hasMore = true; hasMore; ) {
    const result = await page(after, 60, 7);
    seen.push(...result.fresh);
    [after, hasMore] = [result.next, result.hasMore];
  }
  expect(new Set(seen.map(({ mark }) => mark)).size).toBe(25);
  expect(seen).toHaveLength(25);
  change('later', 10_000);
  expect((await page(after, 10_200)).next.length).toBeLessThan(40);
});

test('a position that it has not written is rejected', async () => {
  for (const wrong of ['', '{}', '[1]', '["a",""]']) {
    await expect(ehr().page(wrong, 0)).rejects.toMatchObject({ kind: 'rejected' });
  }
});

/** An EHR that compares whole seconds. */
function inSeconds(changes: readonly Change[], cut: number) {
  return (after: string | undefined, now: number) =>
    readFeed({
      after,
      limit: 2,
      now: new Date(now),
      overlapMilliseconds,
      async read(since) {
        const second = Math.floor(since.getTime() / 1000) * 1000;
        const found = changes.filter(({ at }) => at >= second);
        return { changes: found.slice(0, cut), isCut: found.length > cut };
      },
    });
}

test('changes before the time asked for are not returned again', async () => {
  const changes: Change[] = [];
  const page = inSeconds(changes, 50);
  const { next } = await page(undefined, 1_000);
  changes.push({ at: 1_000, mark: markOf('a') });
  const first = await page(next, 1_010);
  expect(first.fresh).toHaveLength(1);
  const later = await page(first.next, 1_500);
  expect((await page(later.next, 1_600)).fresh).toEqual([]);
});

test('a read that stands still is an error, and no endless loop', async () => {
  const changes = [1, 2, 3, 4].map((n) => ({ at: 1_000, mark: markOf(n) }));
  const page = inSeconds(changes, 2);
  const { next } = await page(undefined, 1_600);
  await expect(page(next, 1_650)).rejects.toMatchObject({ kind: 'rejected' });
});
