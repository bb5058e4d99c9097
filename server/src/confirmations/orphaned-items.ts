import { type SqlBool, sql } from 'kysely';
import type { Db } from '../db/kysely.ts';

const atOnce = 100;

/** Its write has ended, or never got a plan. */
const isOrphaned = sql<SqlBool>`
  state IN ('confirming', 'expiring') AND operation_id IS NOT NULL
  AND NOT EXISTS (SELECT FROM operations
    WHERE operations.id = operation_id AND sealed_plan IS NOT NULL AND operations.state <> 'done')`;

/**
 * Frees items that a write has reserved, but whose write has ended or never got a plan: those being confirmed await
 * their code again, those being expired may be expired by another write. Every way out of a write frees its items
 * in its own transaction. This finds those that no such way has reached. Returns how many it freed.
 */
export async function freeOrphanedItems(db: Db): Promise<number> {
  // Nearly always there is none, and a transaction costs three statements.
  const { rows: found } = await sql`SELECT FROM confirmation_items WHERE ${isOrphaned} LIMIT 1`.execute(db);
  if (found.length === 0) return 0;
  return db.transaction().execute(async (tx) => {
    const locked = await sql<{ appointment_id: string }>`
      SELECT emr, appointment_id FROM confirmation_items WHERE ${isOrphaned} LIMIT ${atOnce} FOR UPDATE SKIP LOCKED`.execute(
      tx,
    );
    if (locked.rows.length === 0) return 0;
    // A statement of its own sees what was stored before the rows were locked: another write may have reserved some.
    const ids = locked.rows.map((row) => row.appointment_id);
    const { numAffectedRows = 0n } = await sql`
      UPDATE confirmation_items
      SET operation_id = NULL, state = CASE state WHEN 'confirming' THEN 'pending' ELSE state END
      WHERE appointment_id = ANY(${ids}::text[]) AND ${isOrphaned}`.execute(tx);
    return Number(numAffectedRows);
  });
}
