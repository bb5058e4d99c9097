import { sql } from 'kysely';
import type { Logger } from 'pino';
import type { Db } from '../db/kysely.ts';
import type { KeyRing } from '../secrets/key-ring.ts';
import { readAuditKeys } from './audit-keys.ts';
import type { AuditSearch } from './search.ts';

/** A key of the trail that cannot be opened: its entries are not found by patient, and their chains cannot be verified. */
export interface LostKey {
  readonly id: string;
  /** It was encrypted with a secret key that an operator has retired. Otherwise a secret key is missing, or the row was changed. */
  readonly isRetired: boolean;
}

/** What an answer about a patient lacks. */
export const incompleteText =
  'The result may lack accesses: a key of the audit trail cannot be opened, and entries under it are not found by patient.';

/** The keys that the trail was written with and that cannot be opened. */
export async function lostAuditKeys(db: Db, keys: KeyRing): Promise<LostKey[]> {
  const readable = await readAuditKeys(db, keys);
  const { rows } = await sql<LostKey>`
    SELECT used.id, EXISTS (
      SELECT FROM audit_keys JOIN secret_keys ON secret_keys.id = encode(substring(sealed_key FROM 1 FOR 4), 'hex')
      WHERE audit_keys.id = used.id AND retired_at IS NOT NULL) AS "isRetired"
    FROM (SELECT id FROM audit_keys UNION SELECT key_id FROM audit_chains) AS used
    WHERE used.id <> ALL(${[...readable.keys()]}::uuid[])`.execute(db);
  return rows;
}

/** Whether a search by patient may lack entries, because some of that time are under a key that cannot be opened. */
export async function isIncomplete(
  db: Db,
  keys: KeyRing,
  { patients, from, to }: Pick<AuditSearch, 'patients' | 'from' | 'to'>,
): Promise<boolean> {
  if (patients === undefined) return false;
  const lost = (await lostAuditKeys(db, keys)).map(({ id }) => id);
  if (lost.length === 0) return false;
  const inTime = sql`at >= coalesce(${from ?? null}::timestamptz, '-infinity')
    AND at < coalesce(${to ?? null}::timestamptz, 'infinity')`;
  const { rows } = await sql<{ found: boolean }>`
    SELECT EXISTS (
      SELECT FROM audit_chains AS chain WHERE key_id = ANY(${lost}::uuid[]) AND EXISTS (
        SELECT FROM audit_entries WHERE chain_id = chain.id AND ${inTime}))
      OR EXISTS (SELECT FROM audit_drafts WHERE key_id = ANY(${lost}::uuid[]) AND ${inTime}) AS found`.execute(db);
  return rows[0]?.found ?? false;
}

/** Returns a function that counts the lost keys whose secret key was not retired, and logs each change of them once. */
export function watchLostKeys(keys: KeyRing, log: Logger): (db: Db) => Promise<number> {
  let known = '';
  return async (db) => {
    const lost = (await lostAuditKeys(db, keys)).filter(({ isRetired }) => !isRetired).map(({ id }) => id);
    const now = lost.sort().join();
    if (now !== known && now !== '') log.error({ audit_keys: lost }, 'keys of the audit trail cannot be opened');
    if (now !== known && now === '') log.info('all keys of the audit trail can be opened again');
    known = now;
    return lost.length;
  };
}
