import { sql } from 'kysely';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import type { Gateway } from '../../../test/gateway/gateway.ts';
import type { Db } from '../db/kysely.ts';
import type { AuditKey } from './audit-keys.ts';
import { createAuditMetrics } from './metrics.ts';
import { type FoundAccess, searchEntries } from './search.ts';
import { Trail } from './trail.ts';

/** The trail of a gateway of its own, whose log and metrics nobody reads. */
export function newTrail(db: Db, key: AuditKey): Trail {
  return new Trail(db, {
    key,
    background: db,
    log: pino({ enabled: false }),
    metrics: createAuditMetrics(new Registry()),
  });
}

/** All accesses in the audit trail, the oldest first, or those of one request or write. */
export async function auditEntries(db: Db, requestId?: string): Promise<FoundAccess[]> {
  return (await searchEntries(db, [], { requestId }, { limit: 100_000 })).reverse();
}

/** How the audit trail stores identifiers of patients, as hexadecimal text. */
export function patientHashes(gateway: Gateway, emr: string, ...identifiers: readonly string[]): string[] {
  const { key } = gateway.deps.services.audit;
  return identifiers.map((identifier) => key.hashPatient(emr, identifier).toString('hex'));
}

/** Runs SQL as an administrator would: without the protection of the audit trail. */
export async function tamper(db: Db, change: (tx: Db) => Promise<unknown>): Promise<void> {
  await db.transaction().execute(async (tx) => {
    const { rows } = await sql<{ name: string }>`
      SELECT relid::text AS name FROM pg_partition_tree('audit_entries') UNION SELECT 'operator_activity'`.execute(tx);
    const tables = rows.map(({ name }) => sql.table(name));
    for (const table of tables) await sql`ALTER TABLE ${table} DISABLE TRIGGER USER`.execute(tx);
    await change(tx);
    for (const table of tables) await sql`ALTER TABLE ${table} ENABLE TRIGGER USER`.execute(tx);
  });
}
