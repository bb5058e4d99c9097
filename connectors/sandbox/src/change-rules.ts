import { type AppointmentChange, type AppointmentCreation, ConnectorError } from '@crossward/connector-kit';
import type { AppointmentRow } from './tables.ts';

/** An appointment as it was read. */
export interface CurrentRow extends Omit<AppointmentRow, 'emr' | 'created_at' | 'changed_by' | 'changed_at'> {
  /** The `xmin` of the row. Null for a row that is not stored yet. */
  readonly read_version: string | null;
  /** Whether `held_until` has passed, by the database's clock. */
  readonly is_expired: boolean;
}

type ChangeOfExisting = Exclude<AppointmentChange, AppointmentCreation>;

/**
 * Applies the change to the row. Returns the same row if the change has no effect.
 *
 * @throws ConnectorError if the state does not allow the change
 */
export function changedRow(row: CurrentRow, change: ChangeOfExisting): CurrentRow {
  switch (change.kind) {
    case 'update':
      return { ...booked(row), ...movedTo(row, change), ...commented(change.comment) };
    case 'cancel':
      return isCancelled(row) ? row : { ...booked(row), state: 'cancelled', ...commented(change.comment) };
    case 'confirm':
      return confirmed(row);
    case 'extend':
      return { ...held(row), held_until: change.holdUntil };
    case 'release':
      if (row.state === 'booked') throw new ConnectorError('appointment_not_held', 'The appointment is booked');
      return isCancelled(row)
        ? row
        : { ...row, state: 'cancelled', held_until: null, is_expired: false, ...commented(change.comment) };
  }
}

function isCancelled(row: CurrentRow): boolean {
  return row.state === 'cancelled' || row.is_expired;
}

function booked(row: CurrentRow): CurrentRow {
  if (isCancelled(row)) throw new ConnectorError('appointment_cancelled', 'The appointment is cancelled');
  if (row.state !== 'booked') throw new ConnectorError('appointment_pending', 'The appointment is not booked yet');
  return row;
}

function held(row: CurrentRow): CurrentRow {
  if (row.state === 'held' && !row.is_expired) return row;
  throw new ConnectorError('appointment_not_held', 'The appointment is not held');
}

/** An expired hold can still be booked while its time is free: the correct code may have arrived before it expired. */
function confirmed(row: CurrentRow): CurrentRow {
  if (row.state === 'booked') return row;
  if (row.state === 'held') return { ...row, state: 'booked', held_until: null, is_expired: false };
  throw new ConnectorError('time_slot_unavailable', 'The held time has been booked or released');
}

function movedTo(row: CurrentRow, { time, resourceId }: Extract<ChangeOfExisting, { kind: 'update' }>) {
  return {
    resource_id: resourceId ?? row.resource_id,
    starts_at: time?.start ?? row.starts_at,
    ends_at: time?.end ?? row.ends_at,
  };
}

function commented(comment: string | null | undefined): { comment?: string | null } {
  return comment === undefined ? {} : { comment };
}
