import { sql } from 'kysely';
import { LruMap } from 'toad-cache';
import type { Db } from '../db/kysely.ts';
import { withinTime } from '../db/time-limit.ts';
import type { KeyRing } from '../secrets/key-ring.ts';
import {
  type CountFailure,
  createFailedCredentials,
  failureKeys,
  forgottenAfter,
  longestPause,
} from './failed-credentials.ts';

/** Pauses that are remembered, so that a sender in a pause costs no statement. */
const remembered = 20_000;
/** Keys in a statement. */
const mostAtOnce = 1_000;
/** Milliseconds to wait for the database, and before it is asked again. */
const timeoutMs = 2_000;
const untilNextTry = 5_000;

/** The failures of a key that wait for the database. */
interface Waiting {
  readonly key: Buffer;
  /** Each gets the milliseconds of the pause, or 0 if it was counted. */
  readonly callers: ((wait: number) => void)[];
}

interface Row {
  readonly key: string;
  readonly counted: number;
  readonly milliseconds: number;
}

/**
 * Counts failures as `createFailedCredentials` does, for all processes together. A process sends the failures of all callers in
 * one statement at a time, and none for a sender in a pause. While the database does not respond, it counts alone.
 */
export function createSharedFailures(db: Db, keys: KeyRing, free: number): CountFailure {
  const own = createFailedCredentials(free);
  /** By key: until when, by `performance.now()`. */
  const pauses = new LruMap<number>(remembered, longestPause);
  let waiting = new Map<string, Waiting>();
  let isSending = false;
  let aloneUntil = 0;

  async function send(): Promise<void> {
    isSending = true;
    // The address and the client id of a failure then go into one statement, so that they are counted alike.
    await undefined;
    while (waiting.size > 0) {
      const batch = [...waiting.entries()].slice(0, mostAtOnce);
      waiting = new Map([...waiting].slice(mostAtOnce));
      try {
        const rows = await withinTime(
          countAll(
            db,
            batch.map(([, it]) => it),
            free,
          ),
          timeoutMs,
        );
        const found = new Map(rows.map((row) => [row.key, row]));
        for (const [name, { callers }] of batch) tell(callers, name, found.get(name));
      } catch {
        aloneUntil = performance.now() + untilNextTry;
        for (const [, { callers }] of batch) for (const call of callers) call(Number.NaN);
      }
    }
    isSending = false;
  }

  function tell(callers: Waiting['callers'], name: string, { counted = 0, milliseconds = 0 }: Partial<Row> = {}): void {
    if (milliseconds > 0) pauses.set(name, performance.now() + milliseconds);
    for (const [index, call] of callers.entries()) call(index < counted ? 0 : Math.max(1, milliseconds));
  }

  /** `NaN`: the database did not respond. */
  function counted(name: string, key: Buffer): Promise<number> {
    return new Promise((resolve) => {
      const entry = waiting.get(name) ?? { key, callers: [] };
      entry.callers.push(resolve);
      waiting.set(name, entry);
      if (!isSending) void send();
    });
  }

  return async (address, clientId) => {
    const now = performance.now();
    if (now < aloneUntil) return own.failed(address, clientId);
    const hashed = failureKeys(address, clientId).map((text) => keys.hashes('failed-credentials', text)[0]);
    const named = hashed.map((key) => ({ key, name: key.toString('base64') }));
    const known = Math.max(...named.map(({ name }) => (pauses.get(name) ?? 0) - now));
    if (known > 0) return known;
    const waits = await Promise.all(named.map(({ name, key }) => counted(name, key)));
    return waits.some(Number.isNaN) ? own.failed(address, clientId) : Math.max(...waits);
  };
}

/** Of several failures of a key, those are counted that begin no pause, or the one that begins it. */
async function countAll(db: Db, all: readonly Waiting[], free: number): Promise<readonly Row[]> {
  // In one order, so that two processes do not wait for each other.
  const sorted = all.toSorted((a, b) => Buffer.compare(a.key, b.key));
  const now = sql`statement_timestamp()`;
  const before = sql`CASE WHEN failed.failed_at < ${now} - make_interval(secs => ${forgottenAfter / 1000}) THEN 0
    ELSE failed.failures END`;
  const counted = sql`CASE WHEN failed.paused_until > ${now} THEN 0
    ELSE least(excluded.counted, greatest(${free}::integer - (${before}), 1)) END`;
  const pauseAfter = (failures: typeof now) => sql`CASE WHEN ${failures} < ${free}::integer THEN interval '0'
    ELSE make_interval(secs => least(power(2, least(${failures} - ${free}::integer, 20)), ${longestPause / 1000})) END`;
  const { rows } = await sql<Row>`
    INSERT INTO failed_credentials AS failed (key_hash, failures, counted, paused_until)
    SELECT key_hash, least(number, ${free}::integer), least(number, ${free}::integer), ${now} + ${pauseAfter(sql`least(number, ${free}::integer)`)}
    FROM unnest(${sorted.map(({ key }) => key)}::bytea[], ${sorted.map(({ callers }) => callers.length)}::integer[])
      AS given (key_hash, number)
    ORDER BY key_hash
    ON CONFLICT (key_hash) DO UPDATE SET
      failures = ${before} + ${counted},
      counted = ${counted},
      paused_until = CASE WHEN ${counted} = 0 THEN failed.paused_until
        ELSE ${now} + ${pauseAfter(sql`(${before} + ${counted})`)} END,
      failed_at = CASE WHEN ${counted} = 0 THEN failed.failed_at ELSE ${now} END
    RETURNING encode(key_hash, 'base64') AS key, counted,
      ceil(extract(epoch FROM paused_until - ${now}) * 1000)::float8 AS milliseconds`.execute(db);
  return rows;
}

/** Deletes what is forgotten, at most `limit` keys. Returns whether there can be more. */
export async function deleteOldFailures(db: Db, limit: number): Promise<boolean> {
  const { numAffectedRows } = await sql`
    DELETE FROM failed_credentials WHERE key_hash = ANY (ARRAY(
      SELECT key_hash FROM failed_credentials
      WHERE failed_at < now() - make_interval(secs => ${forgottenAfter / 1000}) LIMIT ${limit}))`.execute(db);
  return Number(numAffectedRows) === limit;
}
