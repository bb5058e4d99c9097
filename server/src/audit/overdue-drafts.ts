import { sql } from 'kysely';
import { isIdAfter } from '../db/few-rows.ts';
import type { Db } from '../db/kysely.ts';

/** No more are counted, so that a backlog does not make it slow. */
export const mostCounted = 10_000;

/** Counts the entries that are not linked into a chain a minute after they were written. */
export async function countOverdueDrafts(db: Db): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    SELECT count(*)::int AS count FROM (
      SELECT FROM audit_drafts
      WHERE written_at < now() - interval '1 minute' AND ${isIdAfter('id', 0)} LIMIT ${mostCounted}) AS overdue`.execute(
    db,
  );
  return rows[0]?.count ?? 0;
}
