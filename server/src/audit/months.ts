import { sql } from 'kysely';
import { isLockTimeout } from '../db/errors.ts';
import type { Db } from '../db/kysely.ts';
import type { KeyRing } from '../secrets/key-ring.ts';
import { readAuditKeys } from './audit-keys.ts';
import { storeCheckpoint } from './checkpoint.ts';

/** Creates the partitions of entries for this month and the next two, unless the trail is in use for long. */
export async function createMonths(db: Db): Promise<void> {
  await unlessInUse(() => sql`SELECT create_audit_months()`.execute(db));
}

/**
 * Drops the months that have ended `days` ago, unless the trail is in use for long. Keeps a checkpoint of each chain that loses
 * entries.
 */
export async function dropMonths(db: Db, keys: KeyRing, days: number): Promise<void> {
  await unlessInUse(() =>
    db.transaction().execute(async (tx) => {
      const { rows } = await sql<{ of_chain: string; last_position: number; last_hash: Buffer }>`
        SELECT of_chain, last_position, last_hash FROM drop_audit_months(${days})`.execute(tx);
      if (rows.length === 0) return;
      const auditKeys = await readAuditKeys(tx, keys);
      for (const { of_chain, last_position, last_hash } of rows) {
        await storeCheckpoint(tx, auditKeys, { chainId: of_chain, position: last_position, hash: last_hash });
      }
    }),
  );
}

/** Somebody verifies or searches the trail: the next round tries again. */
async function unlessInUse(work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!isLockTimeout(error)) throw error;
  }
}
