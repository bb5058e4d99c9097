import { sql } from 'kysely';
import type { Db } from '../../db/kysely.ts';

/** How far the file of the export is written, by the database. */
export interface ExportState {
  /** Entries up to this export position are in the file. */
  readonly exported: number;
  /** The last export position of the trail. */
  readonly last: number;
  /** Time of the first entry that is not in the file. Null: all are. */
  readonly waiting_since: Date | null;
  readonly exported_at: Date | null;
  /** Why the last attempt failed: a code of the operating system. Null: it did not. */
  readonly failure: string | null;
}

export async function readExportState(db: Db): Promise<ExportState> {
  const { rows } = await sql<ExportState>`
    SELECT exported, (SELECT last FROM audit_export_positions) AS last, exported_at, failure, (
      SELECT at FROM audit_entries WHERE export_position > exported ORDER BY export_position LIMIT 1) AS waiting_since
    FROM audit_export`.execute(db);
  return rows[0] as ExportState;
}

/** Seconds for which a process may write alone. */
export const exportLeaseSeconds = 15;

/**
 * Lets this process write alone if there are entries to write and no other process does.
 *
 * @returns the export position to continue behind, and the last one. `undefined`: nothing to write, or another process writes
 */
export async function takeLease(db: Db, writerId: string): Promise<Pick<ExportState, 'exported' | 'last'> | undefined> {
  const { rows } = await sql<Pick<ExportState, 'exported' | 'last'>>`
    UPDATE audit_export SET writer_id = ${writerId}, leased_until = clock_timestamp() + ${exportLeaseSeconds} * interval '1 second'
    FROM audit_export_positions WHERE exported < last AND (writer_id = ${writerId} OR leased_until < clock_timestamp())
    RETURNING exported, last`.execute(db);
  return rows[0];
}

/** Notes what is in the file. Does nothing if another process writes now: it has written the same entries, or will. */
export async function storeExported(db: Db, writerId: string, from: number, to: number): Promise<void> {
  await sql`
    UPDATE audit_export SET exported = ${to}, exported_at = clock_timestamp(), failure = NULL, failed_at = NULL
    WHERE writer_id = ${writerId} AND exported = ${from}`.execute(db);
}

/** Notes why the file cannot be written, and lets another process try. */
export async function storeFailure(db: Db, writerId: string, failure: string): Promise<void> {
  await sql`
    UPDATE audit_export
    SET failure = ${failure}, failed_at = clock_timestamp(), writer_id = NULL, leased_until = clock_timestamp()
    WHERE writer_id = ${writerId}`.execute(db);
}

/** Lets another process write at once. */
export async function endLease(db: Db, writerId: string): Promise<void> {
  await sql`
    UPDATE audit_export SET writer_id = NULL, leased_until = clock_timestamp() WHERE writer_id = ${writerId}`.execute(
    db,
  );
}
