import { sql } from 'kysely';
import type { Tx } from '../../db/kysely.ts';
import type { KeyRing } from '../../secrets/key-ring.ts';

/** Failures of an account from one source without a pause. */
const free = 5;
/** Seconds. */
const longestPause = 300;
/** Failures of an account from all addresses together: how many at once, and the seconds after which another is allowed. */
const ceiling = { burst: 100, secondsEach: 36 } as const;

/** Where credentials come from: a known browser (see `known-browsers.ts`), a session, or any other browser. */
type Source =
  | { readonly browser: string }
  | { readonly session: true }
  /** The address that limits count by: see `callerOf`. */
  | { readonly address: string };

/** A sign-in, or a check of credentials in a session. */
export interface Attempt {
  readonly name: string;
  readonly source: Source;
}

/**
 * Counts a sign-in as failed before its password is checked, so that concurrent ones count too. Returns the seconds that
 * the sender must wait instead, or 0. After the free failures of an account from one source, each further one starts a
 * pause of 1 s, 2 s, 4 s and so on, up to five minutes. Guesses from many addresses meet the ceiling of the account, which
 * does not apply to sessions and known browsers: otherwise anybody who knows a name could keep its owner out. A name that no
 * account has is counted in the same way. The counts are in the database: a restart or another gateway does not reset them.
 */
export async function countSignIn(tx: Tx, keys: KeyRing, attempt: Attempt): Promise<number> {
  const { source, account } = keysOf(keys, attempt);
  // One at a time: otherwise none of many that arrive together would see a pause. Known browsers wait for nobody else.
  await lock(tx, account ?? source);
  const wait = await waitOf(tx, account ? [source, account] : [source]);
  // A sign-in that must wait is not counted: a pause of one source does not bring the account nearer to its ceiling.
  if (wait > 0) return wait;
  await countAtSource(tx, source);
  if (account) await countAtCeiling(tx, account);
  return 0;
}

/** Until the end of the transaction. */
async function lock(tx: Tx, key: Buffer): Promise<void> {
  const name = `crossward: failed sign-ins ${key.toString('base64')}`;
  await sql`SELECT pg_advisory_xact_lock(hashtextextended(${name}, 0))`.execute(tx);
}

/** Seconds. */
async function waitOf(tx: Tx, keys: readonly Buffer[]): Promise<number> {
  const { rows } = await sql<{ seconds: number | null }>`
    SELECT ceil(extract(epoch FROM max(paused_until) - clock_timestamp()))::int AS seconds
    FROM failed_sign_ins WHERE key_hash = ANY (${[...keys]}) AND paused_until > clock_timestamp()`.execute(tx);
  return rows[0]?.seconds ?? 0;
}

async function countAtSource(tx: Tx, key: Buffer): Promise<void> {
  const pause = sql`make_interval(secs => CASE WHEN failed.failures + 1 < ${free} THEN 0
    ELSE least(power(2, least(failed.failures + 1 - ${free}, 20)), ${longestPause}) END)`;
  await sql`
    INSERT INTO failed_sign_ins AS failed (key_hash, failures, paused_until) VALUES (${key}, 1, clock_timestamp())
    ON CONFLICT (key_hash) DO UPDATE SET failures = failed.failures + 1, last_failed_at = clock_timestamp(),
      paused_until = clock_timestamp() + ${pause}`.execute(tx);
}

/** Each failure moves the end of the pause on, from the time before which a burst ends in no pause (GCRA, a leaky bucket). */
async function countAtCeiling(tx: Tx, key: Buffer): Promise<void> {
  const { burst, secondsEach } = ceiling;
  const earliest = sql`clock_timestamp() - make_interval(secs => ${(burst - 1) * secondsEach})`;
  const each = sql`make_interval(secs => ${secondsEach})`;
  await sql`
    INSERT INTO failed_sign_ins AS failed (key_hash, failures, paused_until) VALUES (${key}, 1, ${earliest} + ${each})
    ON CONFLICT (key_hash) DO UPDATE SET failures = failed.failures + 1, last_failed_at = clock_timestamp(),
      paused_until = greatest(failed.paused_until, ${earliest}) + ${each}`.execute(tx);
}

/** After a sign-in: forgets the failures from its source, and the one that was counted for the account. */
export async function forgiveSignIn(tx: Tx, keys: KeyRing, attempt: Attempt): Promise<void> {
  const { source, account } = keysOf(keys, attempt);
  await sql`DELETE FROM failed_sign_ins WHERE key_hash = ${source}`.execute(tx);
  if (account) await takeOneOffCeiling(tx, account);
}

/** Removes a failure that was counted for a sign-in whose password was not checked. */
export async function takeBackSignIn(tx: Tx, keys: KeyRing, attempt: Attempt): Promise<void> {
  const { source, account } = keysOf(keys, attempt);
  await lock(tx, account ?? source);
  await sql`UPDATE failed_sign_ins SET failures = greatest(failures - 1, 0), paused_until = clock_timestamp()
    WHERE key_hash = ${source}`.execute(tx);
  if (account) await takeOneOffCeiling(tx, account);
}

async function takeOneOffCeiling(tx: Tx, key: Buffer): Promise<void> {
  await sql`UPDATE failed_sign_ins SET failures = greatest(failures - 1, 0),
    paused_until = paused_until - make_interval(secs => ${ceiling.secondsEach}) WHERE key_hash = ${key}`.execute(tx);
}

/** Forgets the failures of an account from all sources, and so ends its pauses. */
export async function forgetFailures(tx: Tx, keys: KeyRing, name: string): Promise<void> {
  // Sign-ins lock the same rows, in another order.
  await lock(tx, ceilingOf(keys, name));
  const half = halfOf(keys, `account ${name}`);
  const first = Buffer.concat([half, Buffer.alloc(half.length, 0x00)]);
  const last = Buffer.concat([half, Buffer.alloc(half.length, 0xff)]);
  await sql`DELETE FROM failed_sign_ins WHERE key_hash BETWEEN ${first} AND ${last}`.execute(tx);
}

/** `account`: the key of the ceiling, where it applies. */
function keysOf(keys: KeyRing, { name, source }: Attempt): { readonly source: Buffer; readonly account?: Buffer } {
  if ('session' in source) return { source: keyOf(keys, name, 'session') };
  if ('browser' in source) return { source: keyOf(keys, name, `browser ${source.browser}`) };
  return { source: keyOf(keys, name, `address ${source.address}`), account: ceilingOf(keys, name) };
}

function ceilingOf(keys: KeyRing, name: string): Buffer {
  return keyOf(keys, name, 'every address');
}

function keyOf(keys: KeyRing, name: string, source: string): Buffer {
  return Buffer.concat([halfOf(keys, `account ${name}`), halfOf(keys, source)]);
}

/** All keys of an account begin with the same half, so that they can be found. */
function halfOf(keys: KeyRing, text: string): Buffer {
  return keys.hashes('sign-in', text)[0].subarray(0, 16);
}
