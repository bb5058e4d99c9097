import Type from 'typebox';
import { inQuery } from '../problems/places.ts';
import { type Place, problemAt } from '../problems/problem.ts';
import type { KeyRing } from '../secrets/key-ring.ts';
import { nullableString, text } from './schemas.ts';

/** Query parameters of every list. */
export const pagingQuery = {
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 500, default: 100, description: 'Maximum number of entries on a page.' }),
  ),
  cursor: Type.Optional(
    text({ minLength: 1, description: '`next_cursor` of the previous page. Requires the same filters.' }),
  ),
};

export const nextCursor = nullableString({ description: 'Cursor for the next page. Null on the last page.' });

/** What a cursor belongs to. It is rejected for another client or other filters. */
export interface CursorBinding {
  readonly clientId: string;
  readonly operationId: string;
  readonly filters: unknown;
}

export interface Cursors {
  seal(position: readonly unknown[], binding: CursorBinding): string;
  /**
   * @param place where the request has the cursor. Default: the query parameter `cursor`
   * @throws Problem `cursor_invalid`
   */
  open(cursor: string, binding: CursorBinding, place?: Place): readonly unknown[];
}

/** Cursors are encrypted, so that they reveal no identifier, and authenticated, so that nobody can forge one. */
export function createCursors(keys: KeyRing): Cursors {
  const context = ({ clientId, operationId, filters }: CursorBinding) =>
    JSON.stringify([clientId, operationId, filters]);
  return {
    seal: (position, binding) => keys.seal('cursor', JSON.stringify(position), context(binding)).toString('base64url'),
    open(cursor, binding, place = inQuery('cursor')) {
      const plain = keys.open('cursor', Buffer.from(cursor, 'base64url'), context(binding));
      if (plain === undefined) {
        throw problemAt(place, 'cursor_invalid', 'The cursor does not belong to this client and these filters.');
      }
      return JSON.parse(plain);
    },
  };
}

export interface PageRequest {
  readonly limit?: number;
  readonly cursor?: string;
}

export interface Page<Entry> {
  readonly entries: readonly Entry[];
  readonly next_cursor: string | null;
}

/**
 * Returns a page of a list. `load` returns at most `limit` entries after a position. It is called with one more than the
 * page's limit, which shows whether there is another page.
 */
export async function page<Entry>(
  cursors: Cursors,
  { limit = 100, cursor }: PageRequest,
  binding: CursorBinding,
  positionOf: (entry: Entry) => readonly unknown[],
  load: (after: readonly unknown[] | undefined, limit: number) => Promise<readonly Entry[]>,
): Promise<Page<Entry>> {
  const after = cursor === undefined ? undefined : cursors.open(cursor, binding);
  const found = await load(after, limit + 1);
  const entries = found.slice(0, limit);
  const last = entries.at(-1);
  const more = found.length > limit && last !== undefined;
  return { entries, next_cursor: more ? cursors.seal(positionOf(last), binding) : null };
}

/** Returns a page of a short list in memory, sorted by id. */
export function pageOfAll<Entry extends { readonly id: string }>(
  cursors: Cursors,
  request: PageRequest,
  binding: CursorBinding,
  all: readonly Entry[],
): Promise<Page<Entry>> {
  return page(
    cursors,
    request,
    binding,
    ({ id }) => [id],
    async (after, limit) =>
      all
        .filter(({ id }) => after === undefined || id > String(after[0]))
        .sort((a, b) => (a.id < b.id ? -1 : 1))
        .slice(0, limit),
  );
}
