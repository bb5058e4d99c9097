import { Counter, Gauge, type Registry } from 'prom-client';
import type { Db } from '../db/kysely.ts';
import { type AuditActor, auditActors } from '../db/tables/audit.ts';
import { readExportState } from './export/export-state.ts';
import { countOverdueDrafts, mostCounted } from './overdue-drafts.ts';

export interface AuditMetrics {
  /** Counts an entry that could not be stored. */
  notStored(actor: AuditActor): void;
  /** Counts an attempt to write the file of the export that failed. */
  exportFailed(): void;
  /** Reads the gauges. */
  refresh(db: Db): Promise<void>;
}

/**
 * @param isExported whether the trail is written to a file
 * @param countLostKeys see `watchLostKeys`
 */
export function createAuditMetrics(
  registry: Registry,
  isExported = false,
  countLostKeys: (db: Db) => Promise<number> = async () => 0,
): AuditMetrics {
  const lostKeys = new Gauge({
    name: 'crossward_audit_keys_lost',
    help: 'Keys of the audit trail that cannot be opened, although nobody has retired their secret key. Entries under them are not found by patient.',
    registers: [registry],
    aggregator: 'max',
  });
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
  const exportFailures = new Counter({
    name: 'crossward_audit_export_failures_total',
    help: 'Attempts of this gateway to write the audit trail to the file of audit.export that failed.',
    registers: [registry],
  });
  const exportLag = new Gauge({
    name: 'crossward_audit_export_lag_seconds',
    help: 'Age of the oldest entry of the audit trail that is not in the file of audit.export. 0: all are, or there is no file.',
    registers: [registry],
    aggregator: 'max',
  });
  return {
    exportFailed: () => exportFailures.inc(),
    notStored: (actor) => failed.inc({ actor }),
    async refresh(db) {
      lostKeys.set(await countLostKeys(db));
      overdue.set(await countOverdueDrafts(db));
      exportLag.set(isExported ? await secondsBehind(db) : 0);
    },
  };
}

async function secondsBehind(db: Db): Promise<number> {
  const { waiting_since } = await readExportState(db);
  return waiting_since ? Math.max(0, (Date.now() - waiting_since.getTime()) / 1000) : 0;
}
