import { createHash } from 'node:crypto';
import Type, { type Static } from 'typebox';
import { Check } from 'typebox/value';

/** A version of a resource that has been returned, from `versionKey`, with its `meta.lastUpdated` in milliseconds. */
export type SeenVersion = readonly [version: string, updatedAt: number];

const position = {
  /** Milliseconds. What has happened from this time on is read. */
  since: Type.Number(),
  seen: Type.Array(Type.Tuple([Type.String(), Type.Number()])),
};
export interface Position {
  readonly since: number;
  readonly seen: readonly SeenVersion[];
}

/** Deletions have a position of their own. Absent: none have been read. */
const cursorSchema = Type.Object({ ...position, deletions: Type.Optional(Type.Object(position)) });
export type ChangeCursor = Static<typeof cursorSchema>;

/**
 * Some servers set `meta.lastUpdated` before they commit, and large transactions take minutes. So changes of the last two
 * minutes are read again, and versions that were returned are skipped.
 */
export const overlapMilliseconds = 120_000;
/** Bounds the size of a position. After more changes within the overlap, the overlap is shorter. */
const mostSeen = 1_000;

/** A short name of a version, since a cursor contains many. */
export function versionKey(id: string, version: string): string {
  return createHash('sha256').update(`${id}/${version}`).digest('base64url').slice(0, 12);
}

export function openCursor(text: string): ChangeCursor {
  const cursor: unknown = JSON.parse(text);
  if (!Check(cursorSchema, cursor)) throw new Error('The cursor is not of this connector');
  return cursor;
}

/**
 * The position after reading. A version that is dropped from it must not be read again, so those of the instant that was
 * reached all stay, however many they are.
 *
 * @param reached milliseconds: every version that was updated before has been read
 */
export function advance({ since }: Position, seen: readonly SeenVersion[], reached: number): Position {
  const newest = seen.toSorted(([, a], [, b]) => b - a);
  const dropped = newest[mostSeen];
  const afterDropped = dropped ? Math.min(dropped[1] + 1, reached) : Number.NEGATIVE_INFINITY;
  const from = Math.max(since, reached - overlapMilliseconds, afterDropped);
  return { since: from, seen: seen.filter(([, at]) => at >= from) };
}
