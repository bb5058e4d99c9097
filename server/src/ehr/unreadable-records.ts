import type { LeftOutRecord } from '@crossward/connector-kit';
import type { Logger } from 'pino';

/** Records of one type that an EHR has, and that its connector could not read. */
export interface UnreadableRecords {
  readonly type: string;
  readonly count: number;
  /** When the first of them was left out. */
  readonly since: Date;
  /** Where the first of them cannot be read, as a JSON Pointer. */
  readonly path: string;
}

export interface UnreadableCounter {
  leftOut(record: LeftOutRecord): void;
  /** By type. */
  counts(): readonly UnreadableRecords[];
}

/** A record that was not read for so long may have been mended. */
const rememberedMilliseconds = 24 * 60 * 60 * 1000;
/** An EHR in which more cannot be read has the same fault in all of them. */
const mostRemembered = 10_000;

interface Remembered extends LeftOutRecord {
  readonly first: number;
  last: number;
}

/**
 * Counts the records of one EHR that its connector has left out within a day, each once, in this process. Tells the log about the
 * first of a type.
 */
export function countUnreadable(
  emr: string,
  log: Pick<Logger, 'warn'> | undefined,
  now: () => number = Date.now,
): UnreadableCounter {
  const remembered = new Map<string, Remembered>();

  function forgetOld(): void {
    const oldest = now() - rememberedMilliseconds;
    for (const [key, { last }] of remembered) {
      if (last <= oldest) remembered.delete(key);
    }
  }

  return {
    leftOut({ type, id, path }) {
      const key = JSON.stringify([type, id ?? path]);
      const known = remembered.get(key);
      if (known) {
        known.last = now();
        return;
      }
      forgetOld();
      if (remembered.size >= mostRemembered) return;
      const isFirst = ![...remembered.values()].some((it) => it.type === type);
      remembered.set(key, { type, path, first: now(), last: now() });
      if (isFirst) log?.warn({ emr, record: type, path }, 'record of the EHR left out, because it cannot be read');
    },
    counts() {
      forgetOld();
      const byType = Map.groupBy(remembered.values(), ({ type }) => type);
      return [...byType].map(([type, records]) => {
        const first = records.reduce((a, b) => (b.first < a.first ? b : a));
        return { type, count: records.length, since: new Date(first.first), path: first.path };
      });
    },
  };
}
