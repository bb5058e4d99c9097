import type { AuditActor } from '../db/tables/audit.ts';
import type { AuditKey } from './audit-key.ts';
import type { Entry } from './chain.ts';

/** An access to the records of patients. */
export interface Access {
  readonly actor: AuditActor;
  /** The client that the access is for. `background`: none. */
  readonly clientId: string;
  readonly operation: string;
  readonly emr: string;
  readonly careUnitId: string;
  /** Identifiers in their normal form, with their type: `emr_id:p-1`. Only hashes of them are stored. */
  readonly patients: Iterable<string>;
  /** The EHR's ids of appointments, notes and documents. */
  readonly records: Iterable<string>;
  /** `success`, `dry_run`, `replayed` or the reason of a problem. */
  readonly outcome: string;
  /** The id of the request. For a background job: the id of the operation. */
  readonly requestId: string;
}

/** The entry of an access, without its place in a chain. */
export function entryOf(key: AuditKey, at: Date, access: Access): Omit<Entry, 'chain_id' | 'position'> {
  const { emr } = access;
  return {
    at,
    actor_kind: access.actor,
    client_id: access.clientId,
    operation: access.operation,
    emr,
    care_unit_id: access.careUnitId,
    patient_hashes: [...new Set(access.patients)].map((identifier) => key.hashPatient(emr, identifier)),
    record_ids: [...new Set(access.records)].map(storable),
    outcome: access.outcome,
    request_id: access.requestId,
  };
}

/** PostgreSQL stores neither NUL nor half a surrogate pair. An EHR's id has none of these, unless its connector is wrong. */
function storable(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\ufffd');
}
