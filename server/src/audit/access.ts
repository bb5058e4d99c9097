import type { AuditedAccess } from '../context/work-context.ts';
import type { AccessColumns } from '../db/tables/audit.ts';
import type { AuditKey } from './audit-keys.ts';

/**
 * What a background job did with a write, besides completing it (`success`).
 *
 * - `not_done`: the EHR has not made the write
 * - `undone`: the gateway has reverted it
 * - `looked_up`: the outcome is not known yet
 */
export type BackgroundOutcome = 'not_done' | 'undone' | 'looked_up';

/** What the entry of an access contains. */
export function columnsOf(key: AuditKey, at: Date, access: AuditedAccess): AccessColumns {
  const { emr } = access;
  return {
    at,
    actor_kind: access.actor,
    client_id: access.clientId,
    operation: access.operation,
    emr,
    care_unit_id: access.careUnitId,
    patient_hashes: [...new Set(access.patients)]
      .sort(ownIdFirst)
      .map((identifier) => key.hashPatient(emr, identifier)),
    record_ids: [...new Set(access.records)].map(storable),
    outcome: access.outcome,
    request_id: access.requestId,
    operation_id: access.writeId ?? null,
  };
}

/** The EHR's own id stands for the patient in exports. */
function ownIdFirst(one: string, other: string): number {
  return Number(other.startsWith('emr_id:')) - Number(one.startsWith('emr_id:'));
}

/** PostgreSQL stores neither NUL nor half a surrogate pair. An EHR's id has none of these, unless its connector is wrong. */
function storable(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\ufffd');
}

/** The content of an access as a list that can be hashed. */
export function contentOf(access: Omit<AccessColumns, 'operation_id'>): unknown[] {
  return [
    access.at.getTime(),
    access.actor_kind,
    access.client_id,
    access.operation,
    access.emr,
    access.care_unit_id,
    access.patient_hashes.map((hash) => hash.toString('hex')),
    access.record_ids,
    access.outcome,
    access.request_id,
  ];
}
