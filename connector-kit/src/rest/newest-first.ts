import { compareText } from './order.ts';

interface Position {
  readonly createdAt: Date;
  readonly id: string;
}

/** The order in which the port lists notes and documents: newest first, then by id descending (code units). */
export function compareNewest(a: Position, b: Position): number {
  return b.createdAt.getTime() - a.createdAt.getTime() || compareText(b.id, a.id);
}

/** A page of notes or documents, in the order of the port. */
export function newestPage<Item extends Position>(
  items: readonly Item[],
  { after, limit }: { readonly after?: Position | undefined; readonly limit: number },
): Item[] {
  return items
    .filter((it) => !after || compareNewest(it, after) > 0)
    .sort(compareNewest)
    .slice(0, limit);
}
