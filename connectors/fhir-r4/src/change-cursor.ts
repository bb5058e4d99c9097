import Type, { type Static } from 'typebox';
import { Check } from 'typebox/value';

/** A version of a resource that has been returned, with its `meta.lastUpdated` in milliseconds. */
export type SeenVersion = readonly [version: string, updatedAt: number];

const cursorSchema = Type.Object({
  /** Milliseconds. Changes from this time on are read. */
  since: Type.Number(),
  seen: Type.Array(Type.Tuple([Type.String(), Type.Number()])),
});
export type ChangeCursor = Static<typeof cursorSchema>;

/**
 * Some servers set `meta.lastUpdated` before they commit, and large transactions take minutes. So changes of the last two
 * minutes are read again, and versions that were returned are skipped.
 */
export const overlapMilliseconds = 120_000;
/** Bounds the size of a cursor. After more changes within the overlap, it is shortened. */
const mostSeen = 1_000;

export function openCursor(text: string): ChangeCursor {
  const cursor: unknown = JSON.parse(text);
  if (!Check(cursorSchema, cursor)) throw new Error('The cursor is not of this connector');
  return cursor;
}

/** The cursor after reading. `reached`: the latest `meta.lastUpdated` that has been read, in milliseconds. */
export function advanceCursor({ since }: ChangeCursor, seen: readonly SeenVersion[], reached: number): string {
  const newest = seen.toSorted(([, a], [, b]) => a - b).slice(-mostSeen);
  const [oldest] = newest;
  const earliest = newest.length === mostSeen && oldest ? oldest[1] : Number.NEGATIVE_INFINITY;
  const from = Math.max(since, reached - overlapMilliseconds, earliest);
  return JSON.stringify({ since: from, seen: newest.filter(([, at]) => at >= from) });
}
