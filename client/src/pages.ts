/** A page of a list. */
export interface Page<Item> {
  readonly items: readonly Item[];
  /** Pass it as `cursor`, with the same filters, to continue after this page. Null on the last page. */
  readonly nextCursor: string | null;
}

/** A list that loads its pages while it is iterated. Each iteration starts anew. */
export class List<Item> implements AsyncIterable<Item> {
  readonly #load: (cursor: string | undefined) => Promise<Page<Item>>;

  constructor(load: (cursor: string | undefined) => Promise<Page<Item>>) {
    this.#load = load;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Item, void, undefined> {
    for await (const { items } of this.pages()) yield* items;
  }

  async *pages(): AsyncGenerator<Page<Item>, void, undefined> {
    let cursor: string | undefined;
    do {
      const page = await this.#load(cursor);
      yield page;
      cursor = page.nextCursor ?? undefined;
    } while (cursor !== undefined);
  }

  /** The first page alone: one request. */
  firstPage(): Promise<Page<Item>> {
    return this.#load(undefined);
  }

  /** All entries, in one array. */
  async all(): Promise<Item[]> {
    const items: Item[] = [];
    for await (const item of this) items.push(item);
    return items;
  }
}

/**
 * Makes a list from an operation with the query parameter `cursor` and the field `next_cursor`.
 *
 * @param name the field with the entries
 */
export function listOf<Name extends string, Item>(
  name: Name,
  { cursor: first }: { cursor?: string | undefined },
  load: (cursor: { cursor?: string }) => Promise<Record<Name, Item[]> & { next_cursor: string | null }>,
): List<Item> {
  return new List(async (cursor = first) => {
    const body = await load(cursor === undefined ? {} : { cursor });
    return { items: body[name], nextCursor: body.next_cursor };
  });
}
