import { sql, type Transaction } from 'kysely';
import type { SandboxTables } from './tables.ts';

/**
 * Serialises writes to the appointments and schedules of the same resource. For appointments alone the exclusion constraint
 * would be correct, but concurrent writes would then deadlock, and PostgreSQL detects a deadlock only after a second.
 */
export async function lockResources(
  tx: Transaction<SandboxTables>,
  emr: string,
  resourceIds: readonly string[],
): Promise<void> {
  for (const id of [...new Set(resourceIds)].sort()) {
    await sql`SELECT pg_advisory_xact_lock(hashtextextended(${`sandbox ${emr} ${id}`}, 0))`.execute(tx);
  }
}
