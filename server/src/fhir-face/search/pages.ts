import type { FastifyRequest } from 'fastify';
import { pageOfAll } from '../../api/paging.ts';
import type { RecordPage, SearchPlace } from './bundle.ts';

type Page<Entry> = (limit: number, cursor: string | undefined) => Promise<RecordPage<Entry>>;

/** Pages of a list in memory, sorted by id. */
export function pagesById<Entry extends { readonly id: string }>(
  request: FastifyRequest,
  { url, self }: SearchPlace,
  load: () => Promise<readonly Entry[]>,
): Page<Entry> {
  const { cursors } = request.server.endpointDeps;
  const operationId = request.routeOptions.config.endpoint?.operationId ?? '';
  const binding = { clientId: request.access?.client.id ?? '', operationId, filters: [url, self] };
  return async (limit, cursor) => {
    const paged = { limit, ...(cursor === undefined ? {} : { cursor }) };
    const { entries, next_cursor } = await pageOfAll(cursors, paged, binding, await load());
    return { entries, next: next_cursor };
  };
}

/**
 * Pages of a list in memory, in its order.
 *
 * @param keyOf by which the entries are sorted, so that a page begins where the one before ended, also if the list has changed
 */
export function pagesInOrder<Entry>(
  request: FastifyRequest,
  place: SearchPlace,
  load: () => Promise<readonly Entry[]>,
  keyOf: (entry: Entry, index: number) => string = (_, index) => String(index).padStart(6, '0'),
): Page<Entry> {
  const page = pagesById(request, place, async () =>
    (await load()).map((entry, index) => ({ id: keyOf(entry, index), entry })),
  );
  return async (limit, cursor) => {
    const { entries, next } = await page(limit, cursor);
    return { entries: entries.map(({ entry }) => entry), next };
  };
}
