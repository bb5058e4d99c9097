import { Counter, Gauge, type Registry } from 'prom-client';
import type { Db } from '../db/kysely.ts';
import { type AuditActor, auditActors } from '../db/tables/audit.ts';
import { countOverdueDrafts, mostCounted } from './overdue-drafts.ts';

export interface AuditMetrics {
  /** Counts an entry that could not be stored. */
  notStored(actor: AuditActor): void;
  /** Reads the gauge. */
  refresh(db: Db): Promise<void>;
}

export function createAuditMetrics(registry: Registry): AuditMetrics {
  const failed = new Counter({
    name: 'crossward_audit_entries_failed_total',
    help: 'Entries of the audit trail that this gateway could not store, by actor: client, patient_page or background. A client or a patient got no data without an entry.',
    labelNames: ['actor'],
    registers: [registry],
  });
  // An alert on growth misses the first increase of a series that did not exist before.
  for (const actor of auditActors) failed.inc({ actor }, 0);
  const overdue = new Gauge({
    name: 'crossward_audit_drafts_overdue',
    help: `Accesses that were stored more than a minute ago and are not linked into a chain of the audit trail, of all gateways on this database. At most ${mostCounted}.`,
    registers: [registry],
    aggregator: 'max',
  });
  return {
    notStored: (actor) => failed.inc({ actor }),
    async refresh(db) {
      overdue.set(await countOverdueDrafts(db));
    },
  };
}
