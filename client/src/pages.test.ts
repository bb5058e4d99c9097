import { expect, test } from 'vitest';
import { clientWithReplies, json } from './test-gateway.ts';

const page = (ids: readonly string[], next_cursor: string | null) =>
  json({ emrs: ids.map((id) => ({ id })), next_cursor });
const threePages = [page(['a', 'b'], 'one'), page([], 'two'), page(['c'], null)];
const cursors = (requests: readonly { url: URL }[]) => requests.map(({ url }) => url.searchParams.get('cursor'));

test('iterates over the entries of all pages', async () => {
  const { client, requests } = clientWithReplies(threePages);
  const ids: string[] = [];
  for await (const { id } of client.emrs.list({ limit: 2 })) ids.push(id);
  expect(ids).toEqual(['a', 'b', 'c']);
  expect(cursors(requests)).toEqual([null, 'one', 'two']);
  expect(requests.every(({ url }) => url.searchParams.get('limit') === '2')).toBe(true);
});

test('loads no page that is not needed', async () => {
  const { client, requests } = clientWithReplies(threePages);
  const list = client.emrs.list();
  expect(requests).toHaveLength(0);
  for await (const { id } of list) if (id === 'b') break;
  expect(requests).toHaveLength(1);
});

test('iterates over pages, starts anew each time, and continues from a cursor', async () => {
  const { client, requests } = clientWithReplies([...threePages, ...threePages.slice(1)]);
  const list = client.emrs.list();
  const sizes: number[] = [];
  for await (const { items } of list.pages()) sizes.push(items.length);
  expect(sizes).toEqual([2, 0, 1]);
  await expect(client.emrs.list({ cursor: 'one' }).firstPage()).resolves.toEqual({ items: [], nextCursor: 'two' });
  await expect(list.all()).resolves.toEqual([{ id: 'c' }]);
  expect(cursors(requests)).toEqual([null, 'one', 'two', 'one', null]);
});
