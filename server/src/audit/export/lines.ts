import type { exportFormats } from '../../config/schema/schema.ts';
import type { StoredEntry } from '../linked-accesses.ts';
import { auditEvents } from './audit-events.ts';
import { concerns, type ExportedPatient } from './named-patient.ts';

/** `ndjson`: a JSON object for each entry. `balp`: FHIR R4 AuditEvents by IHE BALP. Both have one object on each line. */
export type ExportFormat = (typeof exportFormats)[number];

/** The lines of an entry, each with its line break. */
export function linesOf(format: ExportFormat, entry: StoredEntry, named?: ExportedPatient): string {
  const objects = format === 'balp' ? auditEvents(entry, named) : [plain(entry, named)];
  return objects.map((it) => `${JSON.stringify(it)}\n`).join('');
}

function plain(entry: StoredEntry, named: ExportedPatient | undefined) {
  return {
    export_position: entry.export_position,
    at: entry.at.toISOString(),
    actor_kind: entry.actor_kind,
    client_id: entry.client_id,
    operation: entry.operation,
    emr: entry.emr,
    care_unit_id: entry.care_unit_id,
    patient_hashes: entry.patient_hashes.map((hash) => hash.toString('hex')),
    ...(named && concerns(entry, named) && { patient: `emr_id:${named.emrId}` }),
    record_ids: entry.record_ids,
    outcome: entry.outcome,
    request_id: entry.request_id,
    operation_id: entry.operation_id,
    id: entry.id,
    chain_id: entry.chain_id,
    position: entry.position,
    hash: entry.hash.toString('hex'),
  };
}
