import { createHmac, createSecretKey, hkdfSync, type KeyObject, randomBytes, randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { errorCode } from '../db/errors.ts';
import type { Db } from '../db/kysely.ts';
import type { KeyRing } from '../secrets/key-ring.ts';
import { patientTokens } from '../secrets/patient-tokens.ts';

/** Bytes of an HMAC-SHA-256 that are stored for a patient: half of them, as RFC 2104 section 5 allows. */
const patientHashBytes = 16;

/** One key for each purpose, derived from a key of the audit trail (RFC 5869). */
export interface AuditKey {
  readonly id: string;
  /**
   * Stands for a patient in the trail (HMAC-SHA-256, truncated).
   *
   * @param identifier in its normal form, with its type: `emr_id:p-1`
   */
  hashPatient(emr: string, identifier: string): Buffer;
  /** HMAC-SHA-256 of an entry and what comes before it. */
  chain(previous: Buffer, text: string): Buffer;
  /** HMAC-SHA-256 of a statement about a chain, such as an anchor. */
  sign(text: string): Buffer;
}

/**
 * @param secret 32 bytes
 * @param named the identifier that a patient's token stands for, which stays when the token changes; any other as it is
 *
 * @internal for the tests
 */
export function createAuditKey(
  id: string,
  secret: Buffer,
  named: (emr: string, identifier: string) => string = (_, identifier) => identifier,
): AuditKey {
  const derive = (purpose: string): KeyObject =>
    createSecretKey(Buffer.from(hkdfSync('sha256', secret, '', `crossward audit ${purpose}`, 32)));
  const [ofPatients, ofChains, ofStatements] = [derive('patient'), derive('chain'), derive('statement')];
  return {
    id,
    hashPatient: (emr, identifier) =>
      createHmac('sha256', ofPatients)
        .update(`${emr} ${named(emr, identifier)}`)
        .digest()
        .subarray(0, patientHashBytes),
    chain: (previous, text) => createHmac('sha256', ofChains).update(previous).update(text).digest(),
    sign: (text) => createHmac('sha256', ofStatements).update(text).digest(),
  };
}

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
