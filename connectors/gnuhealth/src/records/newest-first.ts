import { compareText } from '@crossward/connector-kit/rest';
import { fromRpc, type RpcDateTime } from '../rpc/values.ts';

interface Position {
  readonly createdAt: Date;
  readonly id: string;
}

interface Row {
  readonly id: number;
  readonly create_date: RpcDateTime;
}

/** Newest first, then by id descending (code units), as the port lists notes and documents. */
export function newestFirst<Item extends Position>(items: readonly Item[]): Item[] {
  return items.toSorted(compare);
}

/** The rows of a page. A patient has few enough that the server need not page: it would sort ids as numbers. */
export function pageOf<Found extends Row>(
  rows: readonly Found[],
  { after, limit }: { readonly after?: Position | undefined; readonly limit: number },
): Found[] {
  return newestFirst(rows.map((row) => ({ row, createdAt: fromRpc(row.create_date), id: String(row.id) })))
    .filter((it) => !after || compare(it, after) > 0)
    .slice(0, limit)
    .map(({ row }) => row);
}

function compare(a: Position, b: Position): number {
  return b.createdAt.getTime() - a.createdAt.getTime() || compareText(b.id, a.id);
}
