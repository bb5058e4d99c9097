import { type Selectable, sql } from 'kysely';
import type { Db, Tx } from '../db/kysely.ts';
import type { DatabaseClient } from '../db/pool.ts';
import type { SecretKeyTables } from '../db/tables/secret-keys.ts';
import { type KeyIdentity, keyIdentity } from '../secrets/key-ring.ts';
import { ConfigurationError } from '../startup/configuration-error.ts';
import { isStillNeeded } from './kept-under.ts';

type KnownKey = Selectable<SecretKeyTables['secret_keys']>;

/** 32 bytes each, the newest first. */
export type SecretKeys = readonly [Buffer, ...Buffer[]];

/**
 * Checks that the database can be used with these secret keys, and records the newest. The gateway does not start
 * without a key that stored data needs, or if the newest key differs from that of other gateways. If several gateways
 * start at the same time on a new database, one of them records the key.
 *
 * @param keyFile file with the demo's key; absent: the keys come from the environment
 * @throws {ConfigurationError} when a key is missing; the message says what to do
 */
export async function requireKnownKeys(db: Db, secretKeys: SecretKeys, keyFile?: string): Promise<void> {
  const configured = secretKeys.map(keyIdentity) as [KeyIdentity, ...KeyIdentity[]];
  const [newest] = configured;
  await db.transaction().execute(async (tx) => {
    await sql`LOCK TABLE secret_keys IN EXCLUSIVE MODE`.execute(tx);
    const { missing, unneeded } = await compare(tx, configured);
    for (const { id } of unneeded) await tx.deleteFrom('secret_keys').where('id', '=', id).execute();
    if (missing.length > 0) throw new ConfigurationError(explanation(missing, configured, keyFile));

    await note(tx, newest);
    await tx
      .updateTable('secret_keys')
      .set({ replaced_at: sql<Date>`clock_timestamp()` })
      .where('id', '<>', newest.id)
      .where('replaced_at', 'is', null)
      .execute();
  });
}

/**
 * Checks the secret keys as a start does, and changes nothing.
 *
 * @throws {ConfigurationError} as `requireKnownKeys` does
 */
export async function checkKnownKeys(db: Db, secretKeys: SecretKeys, keyFile?: string): Promise<void> {
  const configured = secretKeys.map(keyIdentity);
  const { missing } = await compare(db, configured);
  if (missing.length > 0) throw new ConfigurationError(explanation(missing, configured, keyFile));
}

/**
 * Checks, in a migration, that the key which gateways on this database encrypt with is configured.
 *
 * @throws {ConfigurationError} when it is not; the message says what to do
 */
export async function requireKeyInUse(client: DatabaseClient, secretKeys: SecretKeys, keyFile?: string): Promise<void> {
  const configured = secretKeys.map(keyIdentity);
  const { rows } = await client.query<Pick<KnownKey, 'id' | 'check_value'>>(
    'SELECT id, check_value FROM secret_keys WHERE replaced_at IS NULL AND retired_at IS NULL',
  );
  const missing = rows
    .filter((row) => !configured.some((key) => isSame(key, row)))
    .map(({ id }) => ({ id, replaced_at: null }));
  if (missing.length > 0) throw new ConfigurationError(explanation(missing, configured, keyFile));
}

function isSame(key: KeyIdentity, { id, check_value }: Pick<KnownKey, 'id' | 'check_value'>): boolean {
  return key.id === id && key.checkValue.equals(check_value);
}

/** Recorded keys that are not configured: those that are still needed, and those whose records can be deleted. */
async function compare(db: Db | Tx, configured: readonly KeyIdentity[]) {
  const missing: KnownKey[] = [];
  const unneeded: KnownKey[] = [];
  for (const known of await knownKeys(db)) {
    const { id, replaced_at, retired_at } = known;
    const isConfigured = configured.some((key) => isSame(key, known));
    if (isConfigured || retired_at) continue;
    if (replaced_at === null || (await isStillNeeded(db, id, replaced_at))) missing.push(known);
    else unneeded.push(known);
  }
  return { missing, unneeded };
}

function knownKeys(db: Db | Tx): Promise<KnownKey[]> {
  return db.selectFrom('secret_keys').selectAll().execute();
}

/** A key that is configured again is in use again. */
async function note(tx: Tx, { id, checkValue }: KeyIdentity): Promise<void> {
  await tx
    .insertInto('secret_keys')
    .values({ id, check_value: checkValue })
    .onConflict((conflict) =>
      conflict.column('id').doUpdateSet({ check_value: checkValue, replaced_at: null, retired_at: null }),
    )
    .execute();
}

type MissingKey = Pick<KnownKey, 'id' | 'replaced_at'>;

function explanation(missing: readonly MissingKey[], configured: readonly KeyIdentity[], keyFile?: string): string[] {
  const ids = configured.map(({ id }) => id).join(', ');
  const textOf = ({ id }: MissingKey) =>
    `the database has been used with the secret key ${id}, which is missing here; configured: ${ids}`;
  const lacking = missing.map(textOf);
  const retire = `If the key is lost for good: npx crossward secret-keys retire ${missing[0]?.id}`;
  if (keyFile !== undefined) {
    return [
      ...lacking.map((text) => `${keyFile}: ${text}`),
      'The demo keeps its key in its data directory. Set CROSSWARD_DATA_DIR to the one that this database was first used ' +
        'with, copy the file secret-key from there, or let DATABASE_URL name another database.',
      retire,
    ];
  }
  // A key that was replaced before is none to begin with.
  if (missing.every(({ replaced_at }) => replaced_at !== null)) {
    return [
      ...lacking.map((text) => `CROSSWARD_PREVIOUS_SECRET_KEYS: ${text}`),
      'Stored data still needs this older key. Add it to CROSSWARD_PREVIOUS_SECRET_KEYS until nothing is left under it.',
      retire,
    ];
  }
  return [
    ...lacking.map((text) => `CROSSWARD_SECRET_KEY: ${text}`),
    'Set CROSSWARD_SECRET_KEY to the key that this database was last used with. To replace that key, set ' +
      'CROSSWARD_SECRET_KEY to the new one and name the old one in CROSSWARD_PREVIOUS_SECRET_KEYS until nothing is left under it.',
    retire,
  ];
}

/** Every recorded key that is in use, the oldest first. */
export function listKnownKeys(db: Db): Promise<KnownKey[]> {
  return db.selectFrom('secret_keys').selectAll().where('retired_at', 'is', null).orderBy('first_used_at').execute();
}

/**
 * Retires a key: data encrypted with it is lost, and later starts do not require it. Returns `false` if no key in use
 * has this id.
 */
export async function retireKey(db: Db, id: string): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('secret_keys')
    .set({ retired_at: sql<Date>`clock_timestamp()` })
    .where('id', '=', id)
    .where('retired_at', 'is', null)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}
