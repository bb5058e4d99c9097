import { Counter, type Registry } from 'prom-client';
import type { AuditActor } from '../db/tables/audit.ts';

/** Counts entries that could not be stored. */
export interface AuditMetrics {
  notStored(actor: AuditActor): void;
}

const actors: readonly AuditActor[] = ['client', 'patient_page', 'background'];

export function createAuditMetrics(registry: Registry): AuditMetrics {
  const failed = new Counter({
    name: 'crossward_audit_entries_failed_total',
    help: 'Entries of the audit trail that this gateway could not store, by actor: client, patient_page or background. A client or a patient got no data without an entry.',
    labelNames: ['actor'],
    registers: [registry],
  });
  // An alert on growth misses the first increase of a series that did not exist before.
  for (const actor of actors) failed.inc({ actor }, 0);
  return { notStored: (actor) => failed.inc({ actor }) };
}
