import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import type { Configuration } from '../../config/configuration.ts';
import { errorCode } from '../../db/errors.ts';
import type { Db } from '../../db/kysely.ts';
import { createAttemptLog } from '../../log/attempt-log.ts';
import type { AuditMetrics } from '../metrics.ts';
import { appendLines } from './append-lines.ts';
import { endLease, exportLeaseSeconds, storeExported, storeFailure, takeLease } from './export-state.ts';
import { linesOf } from './lines.ts';
import { readEntries } from './read-entries.ts';

/** Maximum number of entries that are written at once. */
const atOnce = 500;
/** Milliseconds after a failure in which other processes can try. */
const pauseAfterFailure = 5_000;

/** Writes the audit trail to a file, continuously. */
export interface FileExport {
  /** Writes the next entries, unless another process does. Returns whether there are more. Logs a file that cannot be written. */
  round(): Promise<boolean>;
  /** Writes what is left. */
  close(): Promise<void>;
}

interface Dependencies {
  readonly db: Db;
  readonly settings: NonNullable<Configuration['audit']['export']>;
  readonly metrics: AuditMetrics;
  readonly log: Logger;
  /** Appends lines to the file. */
  readonly append?: typeof appendLines;
}

/**
 * One process at a time writes, under a lease. The position is stored after the lines are on the disk: a process that is killed in
 * between has written entries that the next one writes again, and none is left out. A process that stood still longer than its
 * lease can also write some again, behind later ones. So a reader keeps the highest `export_position` and drops what is not above.
 */
export function createFileExport({ db, settings, metrics, log, append = appendLines }: Dependencies): FileExport {
  const { file, format } = settings;
  const writerId = randomUUID();
  const attempts = createAttemptLog(log, {
    subject: 'file',
    failing: 'the audit trail cannot be exported',
    again: 'the audit trail is exported again',
  });
  let pausedUntil = 0;

  async function round(): Promise<boolean> {
    if (performance.now() < pausedUntil) return false;
    const leasedAt = performance.now();
    const lease = await takeLease(db, writerId);
    if (!lease) return false;
    const entries = await readEntries(db, lease.exported, atOnce);
    // Without an entry, those up to the last position have expired before they were written.
    const reached = entries.at(-1)?.export_position ?? lease.last;
    const lines = entries.map((entry) => linesOf(format, entry)).join('');
    // Half of the lease is left to write.
    if (performance.now() - leasedAt > (exportLeaseSeconds * 1000) / 2) return true;
    try {
      if (lines !== '') await append(file, lines);
    } catch (error) {
      const failure = errorCode(error) ?? 'unknown';
      metrics.exportFailed();
      attempts.failed(file, { failure });
      pausedUntil = performance.now() + pauseAfterFailure;
      await storeFailure(db, writerId, failure);
      return false;
    }
    attempts.succeeded(file);
    await storeExported(db, writerId, lease.exported, reached);
    return entries.length === atOnce;
  }

  return {
    round,
    async close() {
      while (await round());
      await endLease(db, writerId);
      attempts.stop();
    },
  };
}
