import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { ConnectorError, type InTurn, turnsInProcess } from '@crossward/connector-kit';
import { sql } from 'kysely';
import type { Db } from '../db/kysely.ts';

interface TurnTimes {
  /** How long to wait for a turn. */
  readonly waitMs: number;
  /** For how long a turn lasts that is not renewed. Others wait so long for a process that was killed. */
  readonly leaseMs?: number;
}

/**
 * Turns of all gateways: a row of the database says who has one. No connection to the database is in use meanwhile, as an
 * advisory lock would need. Callers of one process queue up first, so that only one of them asks the database.
 *
 * @returns runs the work in its turn. Rejects with a ConnectorError `unavailable`, before the work begins, if the database is away
 *   or the turn does not come
 */
export function exclusiveTurns(db: Db, emr: string, { waitMs, leaseMs = 15_000 }: TurnTimes): InTurn {
  const inProcess = turnsInProcess();
  const lease = sql`clock_timestamp() + make_interval(secs => ${leaseMs / 1000})`;

  async function isTaken(key: string, holder: string): Promise<boolean> {
    const { rows } = await sql`
      INSERT INTO ehr_exclusive_turns AS current (emr, key, holder, ends_at) VALUES (${emr}, ${key}, ${holder}, ${lease})
      ON CONFLICT (emr, key) DO UPDATE SET holder = excluded.holder, ends_at = excluded.ends_at
        WHERE current.ends_at < clock_timestamp()
      RETURNING holder`.execute(db);
    return rows.length > 0;
  }

  async function take(key: string, holder: string, since: number): Promise<void> {
    for (;;) {
      const isOwn = await isTaken(key, holder).catch((cause: unknown) => {
        throw notBegun('The database of the gateway does not give turns', cause);
      });
      if (isOwn) return;
      if (performance.now() - since > waitMs) throw notBegun('Another write of the same records takes too long');
      await sleep(20 + Math.random() * 60);
    }
  }

  // Only a turn that is still there: a late renewal must not bring back one that was given back.
  async function renew(key: string, holder: string): Promise<void> {
    await sql`UPDATE ehr_exclusive_turns SET ends_at = ${lease}
      WHERE emr = ${emr} AND key = ${key} AND holder = ${holder}`.execute(db);
  }

  async function release(key: string, holder: string): Promise<void> {
    const where = sql`emr = ${emr} AND key = ${key} AND holder = ${holder}`;
    // A turn that cannot be given back ends by itself.
    await sql`DELETE FROM ehr_exclusive_turns WHERE ${where}`.execute(db).catch(() => undefined);
  }

  return (key, run) => {
    const since = performance.now();
    return inProcess(key, async () => {
      const holder = randomUUID();
      await take(key, holder, since);
      const renewal = setInterval(() => void renew(key, holder).catch(() => undefined), leaseMs / 3).unref();
      try {
        return await run();
      } finally {
        clearInterval(renewal);
        await release(key, holder);
      }
    });
  };
}

/** Not the fault of the EHR. */
function notBegun(words: string, cause?: unknown): ConnectorError {
  return new ConnectorError('unavailable', words, { cause, fault: false, nothingChanged: true });
}
