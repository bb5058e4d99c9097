import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { ConnectorError, type InTurn, turnsInProcess } from '@crossward/connector-kit';
import { sql } from 'kysely';
import type { Db } from '../db/kysely.ts';
import { callScope } from './guard/call-scope.ts';
import { type HeldTurn, heldTurns } from './guard/held-turns.ts';

interface TurnTimes {
  /** How long to wait for a turn. */
  readonly waitMs: number;
  /** How long a request to the EHR can take. A turn lasts longer. */
  readonly requestMs: number;
  /** For how long a turn lasts that is not renewed. Others wait so long for a process that was killed. */
  readonly leaseMs?: number;
}

/** Between the proof of a turn and the first byte of the request. */
const marginMs = 5_000;

/**
 * Turns of all gateways: a row of the database says who has one. No connection to the database is in use meanwhile, as an
 * advisory lock would need. Callers of one process queue up first, so that only one of them asks the database.
 *
 * A process that stands still, or is cut off from the database, loses its turn. So each write that it sends in a turn is preceded
 * by a proof (`heldTurns`), and begins only while the turn outlasts it. A turn whose write has an unknown outcome is not given
 * back: it ends by itself, when the EHR has most likely ended the write, too.
 *
 * @returns runs the work in its turn. Rejects with a ConnectorError `unavailable`, before the work begins, if the database is away
 *   or the turn does not come
 */
export function exclusiveTurns(db: Db, emr: string, { waitMs, requestMs, leaseMs: given }: TurnTimes): InTurn {
  const inProcess = turnsInProcess();
  const leaseMs = given ?? requestMs + marginMs;
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
        // The answer to a COMMIT can be lost.
        void release(key, holder);
        throw notBegun('The database of the gateway does not give turns', cause);
      });
      if (isOwn) return;
      if (performance.now() - since > waitMs) throw notBegun('Another write of the same records takes too long');
      await sleep(20 + Math.random() * 60);
    }
  }

  /**
   * Only a turn that is still there: a late renewal must not bring back one that was given back, and one that was taken over has
   * another holder, or is gone. One that has ended, and that nobody has taken, goes on.
   */
  async function isRenewed(key: string, holder: string): Promise<boolean> {
    const { rows } = await sql`UPDATE ehr_exclusive_turns SET ends_at = ${lease}
      WHERE emr = ${emr} AND key = ${key} AND holder = ${holder} RETURNING holder`.execute(db);
    return rows.length > 0;
  }

  async function release(key: string, holder: string): Promise<void> {
    const where = sql`emr = ${emr} AND key = ${key} AND holder = ${holder}`;
    // A turn that cannot be given back ends by itself.
    await sql`DELETE FROM ehr_exclusive_turns WHERE ${where}`.execute(db).catch(() => undefined);
  }

  const turnOf = (key: string, holder: string): HeldTurn => ({
    async prove() {
      const elapsed = stopwatch();
      const isOwn = await isRenewed(key, holder).catch((cause: unknown) => {
        throw notSent('The database of the gateway does not say whose turn it is', cause);
      });
      if (!isOwn) throw notSent('This process has stood still, and another write had its turn meanwhile');
      return (milliseconds) => elapsed() + milliseconds < leaseMs;
    },
  });

  return (key, run) => {
    const since = performance.now();
    return inProcess(key, async () => {
      const holder = randomUUID();
      await take(key, holder, since);
      const renewal = setInterval(() => void isRenewed(key, holder).catch(() => undefined), leaseMs / 3).unref();
      let isSettled = true;
      try {
        return await heldTurns.run([...(heldTurns.getStore() ?? []), turnOf(key, holder)], run);
      } catch (error) {
        isSettled = !isUnknown(error);
        throw error;
      } finally {
        clearInterval(renewal);
        if (isSettled) await release(key, holder);
      }
    });
  };
}

/** Milliseconds by the clock that has moved more: the monotonic one can stop with the machine, the other one can be set. */
function stopwatch(): () => number {
  const [monotonic, wall] = [performance.now(), Date.now()];
  return () => Math.max(performance.now() - monotonic, Date.now() - wall);
}

/** Whether a write may still be on its way. */
function isUnknown(error: unknown): boolean {
  const told = callScope.getStore()?.facts.writes.errorOf(error) ?? error;
  return told instanceof ConnectorError && told.kind === 'outcome_unknown';
}

/** Not the fault of the EHR. Requests of the same call may have written before: a move has a second turn for the way back. */
function notBegun(words: string, cause?: unknown): ConnectorError {
  return new ConnectorError('unavailable', words, { cause, fault: false });
}

/** Nothing about the requests before this one. */
function notSent(words: string, cause?: unknown): ConnectorError {
  return new ConnectorError('unavailable', words, { cause, fault: false });
}
