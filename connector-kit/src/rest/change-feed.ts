import { createHash } from 'node:crypto';
import type { ChangedAppointment } from '../appointment-changes.ts';
import { ConnectorError } from '../errors.ts';
import type { Appointment } from '../records.ts';

/** A version of a record that has changed. */
export interface Change {
  /** When, by the EHR's clock, in milliseconds. */
  readonly at: number;
  /** Of this version of this record: `markOf`. */
  readonly mark: string;
}

/** Changes that were read: everything that changed from a time on, or the oldest part of it. */
export interface ReadChanges<Item extends Change> {
  /** The oldest first, and those of one time in the same order in each call. */
  readonly changes: readonly Item[];
  /** Whether there are more, newer ones. */
  readonly isCut: boolean;
}

interface FeedOptions<Item extends Change> {
  /** The position of the last call. Absent: the first call. */
  readonly after: string | undefined;
  /** How many new changes are returned. */
  readonly limit: number;
  /** By the EHR's clock. */
  readonly now: Date;
  /**
   * How long after its time stamp a change can appear: the transaction that made it took so long. Changes of this time are read
   * again, and those that were returned are left out. A second more for an EHR whose time stamps have whole seconds.
   */
  readonly overlapMilliseconds: number;
  /**
   * Changes before `since`, which an EHR with whole seconds returns, are left out.
   *
   * @param atLeast how many are enough. `undefined`: all are needed
   */
  read(since: Date, atLeast: number | undefined): Promise<ReadChanges<Item>>;
}

interface FeedPage<Item extends Change> {
  /** Those that no earlier call has returned, the oldest first. */
  readonly fresh: readonly Item[];
  readonly next: string;
  readonly hasMore: boolean;
  /** Everything before it was returned by earlier calls. */
  readonly since: Date;
}

/**
 * One page of the changes of an EHR, by time stamps that are set before a change can be seen.
 *
 * @throws ConnectorError `rejected` if `read` stands still: it says that there is more, and returns nothing new
 */
export async function readFeed<Item extends Change>(options: FeedOptions<Item>): Promise<FeedPage<Item>> {
  const { after, limit, now, overlapMilliseconds, read } = options;
  const overlap = now.getTime() - overlapMilliseconds;
  if (after === undefined) {
    // What was changed a moment ago is in the overlap, and counts as returned.
    const { changes } = await read(new Date(overlap), undefined);
    const next = writePosition({ since: overlap, seen: changes.map(({ mark }) => mark) });
    return { fresh: [], next, hasMore: false, since: new Date(overlap) };
  }
  const { since, seen } = readPosition(after);
  const known = new Set(seen);
  const { changes: found, isCut } = await read(new Date(since), limit + seen.length);
  // An EHR with whole seconds returns older ones, too. They were returned before, and their marks are not kept.
  const changes = found.filter(({ at }) => at >= since);
  const isNew = ({ mark }: Item) => !known.has(mark);
  const page = throughLimit(changes, isNew, limit);
  // Everything before the overlap is settled, unless the page ended there.
  const settled = Math.max(since, Math.min(page.at(-1)?.at ?? since, overlap));
  const kept = page.filter(({ at }) => at >= settled).map(({ mark }) => mark);
  // A record that has changed again has another mark, so older marks are not needed once they are before the overlap.
  const own = new Set(kept);
  const position = { since: settled, seen: settled === since ? [...seen.filter((it) => !own.has(it)), ...kept] : kept };
  const next = writePosition(position);
  const hasMore = isCut || page.length < changes.length;
  if (hasMore && next === after) {
    throw new ConnectorError('rejected', 'The EHR returns the same changes again, and none that follow them');
  }
  return { fresh: page.filter(isNew), next, hasMore, since: new Date(since) };
}

/** A change of an appointment. @param since of the page: what was booked before is not told as new */
export function changedAppointment(
  appointment: Appointment,
  at: number,
  createdAt: Date | undefined,
  since: Date,
): ChangedAppointment {
  return { appointment, changedAt: new Date(at), ...(createdAt && createdAt >= since ? { createdAt } : {}) };
}

/** The changes up to the last one of a page. */
function throughLimit<Item extends Change>(
  changes: readonly Item[],
  isNew: (change: Item) => boolean,
  limit: number,
): readonly Item[] {
  let count = 0;
  return changes.filter((change) => {
    if (isNew(change)) count++;
    return count <= limit;
  });
}

/** Stands for one version of one record. */
export function markOf(...version: readonly (string | number)[]): string {
  return createHash('sha256').update(version.join(' ')).digest('base64url').slice(0, 8);
}

interface Position {
  readonly since: number;
  /** Marks of what was returned and has changed since. */
  readonly seen: readonly string[];
}

function writePosition({ since, seen }: Position): string {
  return JSON.stringify([since, seen.join('')]);
}

/** @throws ConnectorError if it is not a position of `writePosition` */
function readPosition(text: string): Position {
  try {
    const [since, seen]: unknown[] = JSON.parse(text);
    if (typeof since === 'number' && typeof seen === 'string') return { since, seen: seen.match(/.{8}/g) ?? [] };
  } catch {
    // Reported below.
  }
  throw new ConnectorError('rejected', 'The position in the changes of the EHR is invalid');
}
