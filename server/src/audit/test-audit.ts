import { sql } from 'kysely';
import type { Gateway } from '../../../test/gateway.ts';
import type { Db } from '../db/kysely.ts';
import type { StoredEntry } from './chain.ts';

/** All entries of the audit trail, the oldest first, or those of one request. */
export async function auditEntries(db: Db, requestId?: string): Promise<StoredEntry[]> {
  const { rows } = await sql<StoredEntry>`
    SELECT * FROM audit_entries WHERE ${requestId ?? null}::text IS NULL OR request_id = ${requestId ?? null}
    ORDER BY at, chain_id, position`.execute(db);
  return rows;
}

/** How the audit trail stores identifiers of patients, as hexadecimal text. */
export function patientHashes(gateway: Gateway, emr: string, ...identifiers: readonly string[]): string[] {
  const { key } = gateway.deps.services.audit;
  return identifiers.map((identifier) => key.hashPatient(emr, identifier).toString('hex'));
}

/** Runs SQL as an administrator would: without the protection of the audit trail. */
export async function tamper(db: Db, change: (tx: Db) => Promise<unknown>): Promise<void> {
  await db.transaction().execute(async (tx) => {
    await sql`ALTER TABLE audit_entries DISABLE TRIGGER USER`.execute(tx);
    await change(tx);
    await sql`ALTER TABLE audit_entries ENABLE TRIGGER USER`.execute(tx);
  });
}
