import { sql } from 'kysely';
import type { Db, Tx } from '../db/kysely.ts';
import type { KeyRing } from '../secrets/key-ring.ts';

/** Failures without a pause. */
const free = { account: 5, address: 20 } as const;
/** Seconds. */
const longestPause = 300;

/** A sign-in, or a check of credentials in a session. */
export interface Attempt {
  readonly name: string;
  /** The address that limits count by: see `callerOf`. */
  readonly address: string;
}

/**
 * Counts a sign-in as failed before its password is checked, so that concurrent ones count too. Returns the seconds that
 * the sender must wait instead, or 0. After the free failures of an account or an address, each further one starts a pause
 * of 1 s, 2 s, 4 s and so on, up to five minutes. The counts are in the database: a restart or another gateway does not
 * reset them.
 */
export async function countSignIn(tx: Tx, keys: KeyRing, attempt: Attempt): Promise<number> {
  // One sign-in at a time: otherwise none of many that arrive together would see a pause.
  await sql`SELECT pg_advisory_xact_lock(hashtextextended('crossward: failed sign-ins', 0))`.execute(tx);
  const { account, address } = keysOf(keys, attempt);
  const wait = await waitOf(tx, [account, address]);
  // A sign-in that must wait is not counted: a pause of the account does not cost the address a failure.
  if (wait > 0) return wait;
  await countOne(tx, account, free.account);
  await countOne(tx, address, free.address);
  return 0;
}

/** Seconds. */
async function waitOf(tx: Tx, keys: readonly Buffer[]): Promise<number> {
  const { rows } = await sql<{ seconds: number | null }>`
    SELECT ceil(extract(epoch FROM max(paused_until) - clock_timestamp()))::int AS seconds
    FROM failed_sign_ins WHERE key_hash = ANY (${[...keys]}) AND paused_until > clock_timestamp()`.execute(tx);
  return rows[0]?.seconds ?? 0;
}

async function countOne(tx: Tx, key: Buffer, allowed: number): Promise<void> {
  const pause = sql`make_interval(secs => CASE WHEN failed.failures + 1 < ${allowed} THEN 0
    ELSE least(power(2, least(failed.failures + 1 - ${allowed}, 20)), ${longestPause}) END)`;
  await sql`
    INSERT INTO failed_sign_ins AS failed (key_hash, failures, paused_until) VALUES (${key}, 1, clock_timestamp())
    ON CONFLICT (key_hash) DO UPDATE SET failures = failed.failures + 1, last_failed_at = clock_timestamp(),
      paused_until = clock_timestamp() + ${pause}`.execute(tx);
}

/** Forgets the failures of an account after a sign-in, and one failure of the address, which other accounts share. */
export async function forgiveSignIn(db: Db, keys: KeyRing, attempt: Attempt): Promise<void> {
  await forgetFailures(db, keys, attempt.name);
  await takeOneOff(db, keysOf(keys, attempt).address);
}

/** Removes a failure that was counted for a sign-in whose password was not checked. */
export async function takeBackSignIn(db: Db, keys: KeyRing, attempt: Attempt): Promise<void> {
  const { account, address } = keysOf(keys, attempt);
  // In the order of `countSignIn`, because a deadlock would end one of the two.
  await takeOneOff(db, account);
  await takeOneOff(db, address);
}

async function takeOneOff(db: Db, key: Buffer): Promise<void> {
  await sql`UPDATE failed_sign_ins SET failures = greatest(failures - 1, 0), paused_until = clock_timestamp()
    WHERE key_hash = ${key}`.execute(db);
}

/** Forgets the failures of an account, and so ends its pause. */
export async function forgetFailures(db: Db, keys: KeyRing, name: string): Promise<void> {
  await sql`DELETE FROM failed_sign_ins WHERE key_hash = ${accountKey(keys, name)}`.execute(db);
}

function accountKey(keys: KeyRing, name: string): Buffer {
  const [account] = keys.hashes('sign-in', `account ${name}`);
  return account;
}

function keysOf(keys: KeyRing, { name, address }: Attempt) {
  const account = accountKey(keys, name);
  const [ofAddress] = keys.hashes('sign-in', `address ${address}`);
  return { account, address: ofAddress };
}
