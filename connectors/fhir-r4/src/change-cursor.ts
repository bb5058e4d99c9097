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

/**
 * The cursor after reading. A version that is dropped from it must not be read again, so those of the instant that was
 * reached all stay, however many they are.
 *
 * @param reached milliseconds: every version that was updated before has been read
 */
export function advanceCursor({ since }: ChangeCursor, seen: readonly SeenVersion[], reached: number): string {
  const newest = seen.toSorted(([, a], [, b]) => b - a);
  const dropped = newest[mostSeen];
  const afterDropped = dropped ? Math.min(dropped[1] + 1, reached) : Number.NEGATIVE_INFINITY;
  const from = Math.max(since, reached - overlapMilliseconds, afterDropped);
  return JSON.stringify({ since: from, seen: seen.filter(([, at]) => at >= from) });
}
