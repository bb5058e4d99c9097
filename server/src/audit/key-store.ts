import { randomBytes, randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { errorCode } from '../db/errors.ts';
import type { Db } from '../db/kysely.ts';
import type { KeyRing } from '../secrets/key-ring.ts';
import { patientTokens } from '../secrets/patient-tokens.ts';
import { type AuditKey, createAuditKey } from './audit-key.ts';

const idPrefix = 'emr_id:';
const contextOf = (id: string) => `audit key ${id}`;

/** The keys that can be read, by id, the newest first. A key is lost with the secret key that it was encrypted with. */
export async function readAuditKeys(db: Db, keys: KeyRing): Promise<ReadonlyMap<string, AuditKey>> {
  const found = new Map<string, AuditKey>();
  for (const { id, secret } of await openAll(db, keys)) if (secret) found.set(id, auditKey(keys, id, secret));
  return found;
}

/**
 * The key for new entries. Creates it on a new database, or when the secret key of all others is lost. Encrypts each key
 * again if the newest secret key has changed, so that the older one can be removed.
 */
export async function prepareAuditKey(db: Db, keys: KeyRing): Promise<AuditKey> {
  const known = await openAll(db, keys);
  for (const { id, secret, sealed_key } of known) {
    if (!secret || keys.isUnderNewest(sealed_key)) continue;
    const sealed = keys.seal('audit', secret, contextOf(id));
    await sealAgain(db, id, sealed);
  }
  return newestOf(known, keys) ?? (await createFirst(db, keys));
}

/** A role that owns nothing may not overwrite a key. It stays under the older secret key until a gateway starts as the owner. */
async function sealAgain(db: Db, id: string, sealed: Buffer): Promise<void> {
  try {
    await db.updateTable('audit_keys').set({ sealed_key: sealed }).where('id', '=', id).execute();
  } catch (error) {
    if (errorCode(error) !== '42501') throw error;
  }
}

/** Gateways that start at the same time create one key. */
function createFirst(db: Db, keys: KeyRing): Promise<AuditKey> {
  return db.transaction().execute(async (tx) => {
    // Not a lock of the table, for which a role needs the right to change its rows.
    await sql`SELECT pg_advisory_xact_lock(hashtextextended('crossward audit keys', 0))`.execute(tx);
    const existing = newestOf(await openAll(tx, keys), keys);
    if (existing) return existing;
    const [id, secret] = [randomUUID(), randomBytes(32)];
    await tx
      .insertInto('audit_keys')
      .values({ id, sealed_key: keys.seal('audit', secret, contextOf(id)) })
      .execute();
    return auditKey(keys, id, secret);
  });
}

/** A key that knows a patient by the identifier, whether the identifier or its token is given. */
function auditKey(keys: KeyRing, id: string, secret: Buffer): AuditKey {
  return createAuditKey(id, secret, (emr, identifier) => {
    const token = identifier.startsWith(idPrefix) ? identifier.slice(idPrefix.length) : '';
    return patientTokens(keys, emr).open(token) ?? identifier;
  });
}

interface Opened {
  readonly id: string;
  readonly sealed_key: Buffer;
  readonly secret: Buffer | undefined;
}

function newestOf(known: readonly Opened[], keys: KeyRing): AuditKey | undefined {
  const newest = known.find(({ secret }) => secret);
  return newest?.secret && auditKey(keys, newest.id, newest.secret);
}

/** The newest first. */
async function openAll(db: Db, keys: KeyRing): Promise<Opened[]> {
  const rows = await db.selectFrom('audit_keys').select(['id', 'sealed_key']).orderBy('created_at', 'desc').execute();
  return rows.map((row) => ({ ...row, secret: keys.openBytes('audit', row.sealed_key, contextOf(row.id)) }));
}
