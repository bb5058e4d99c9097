import { createHash } from 'node:crypto';
import { ConnectorError } from '@crossward/connector-kit';

/**
 * `write_date` is when a transaction began, and the row shows when it ends. So rows from this long ago are read again, and
 * those that were returned are left out.
 */
export const overlapMilliseconds = 5 * 60_000;

export interface ChangeCursor {
  /** Everything that changed before this time was returned. Milliseconds. */
  readonly since: number;
  /** Marks of what was returned and has changed since. */
  readonly seen: readonly string[];
}

/** Stands for one version of one row. */
export function markOf(kind: 'row' | 'log', id: number, timestamp: string): string {
  return createHash('sha256').update(`${kind} ${id} ${timestamp}`).digest('base64url').slice(0, 8);
}

export function writeCursor({ since, seen }: ChangeCursor): string {
  return JSON.stringify([since, seen.join('')]);
}

/** @throws ConnectorError if it is not a cursor of `writeCursor` */
export function readCursor(text: string): ChangeCursor {
  try {
    const [since, seen]: unknown[] = JSON.parse(text);
    if (typeof since === 'number' && typeof seen === 'string') return { since, seen: seen.match(/.{8}/g) ?? [] };
  } catch {
    // Reported below.
  }
  throw new ConnectorError('rejected', 'The position in the changes of the EHR is invalid');
}
