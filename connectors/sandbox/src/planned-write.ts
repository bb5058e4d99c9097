import { randomUUID } from 'node:crypto';
import {
  type AppointmentCreation,
  type AppointmentWrite,
  type CareUnit,
  ConnectorError,
} from '@crossward/connector-kit';
import { hasStarted } from './appointment-state.ts';
import { type CurrentRow, changedRow } from './change-rules.ts';
import type { WantedTime } from './time-slots.ts';

/** A row as a write leaves it. */
export interface PlannedRow extends CurrentRow {
  /** Whether its time must be free. */
  readonly takes_time: boolean;
}

/** What a write does if nothing that was read for it has changed since. */
export interface PlannedWrite {
  /** The ids of the appointments, in the order of the changes. */
  readonly ids: readonly string[];
  readonly rows: ReadonlyMap<string, PlannedRow>;
  /** Times that time slots must cover. */
  readonly wanted: readonly WantedTime[];
  /** Times that appointments take or leave. Empty if none needs free time. */
  readonly times: readonly WantedTime[];
}

/**
 * Applies the changes to the appointments.
 *
 * @throws ConnectorError if an appointment does not exist or its state does not allow the change
 */
export function planWrite(
  { careUnit, changes }: AppointmentWrite,
  current: ReadonlyMap<string, CurrentRow>,
): PlannedWrite {
  const rows = new Map<string, PlannedRow>();
  const wanted: WantedTime[] = [];
  const ids = changes.map((change) => {
    if (change.kind === 'create') {
      const row = newRow(careUnit, change);
      rows.set(row.id, row);
      wanted.push(timeOf(row));
      return row.id;
    }
    const before = rows.get(change.appointmentId) ?? current.get(change.appointmentId);
    if (!before) throw new ConnectorError('appointment_not_found', 'No such appointment in this care unit');
    const row = changedRow(before, change);
    if (hasStarted(before) && (moves(before, row) || cancels(before, row))) {
      throw new ConnectorError('appointment_started', 'The patient has arrived, or the visit is over');
    }
    // A confirmed or extended hold needs its slots, too: a period may have been taken out after the hold expired.
    const wasHeld = change.kind === 'confirm' || change.kind === 'extend';
    const takesTime = wasHeld || moves(before, row);
    if (takesTime) wanted.push({ ...timeOf(row), wasHeld });
    rows.set(row.id, { ...row, takes_time: takesTime || rows.get(row.id)?.takes_time === true });
    return row.id;
  });
  const left = [...rows.keys()].flatMap((id) => current.get(id) ?? []).map(timeOf);
  return { ids, rows, wanted, times: wanted.length > 0 ? [...wanted, ...left] : [] };
}

function newRow(careUnit: CareUnit, creation: AppointmentCreation): PlannedRow {
  return {
    id: randomUUID(),
    read_version: null,
    care_unit_id: careUnit.id,
    patient_id: creation.patientId,
    resource_id: creation.resourceId,
    healthcare_service_id: creation.healthcareServiceId,
    starts_at: creation.start,
    ends_at: creation.end,
    state: creation.holdUntil ? 'held' : 'booked',
    held_until: creation.holdUntil,
    is_expired: false,
    comment: creation.comment,
    attendance: null,
    takes_time: true,
  };
}

/** Whether the change needs free time. A cancellation does not. */
function moves(before: CurrentRow, after: CurrentRow): boolean {
  if (after.state === 'cancelled') return false;
  return (
    before.resource_id !== after.resource_id ||
    before.starts_at.getTime() !== after.starts_at.getTime() ||
    before.ends_at.getTime() !== after.ends_at.getTime()
  );
}

function cancels(before: CurrentRow, after: CurrentRow): boolean {
  return after.state === 'cancelled' && before.state !== 'cancelled';
}

function timeOf(row: CurrentRow): WantedTime {
  return {
    resourceId: row.resource_id,
    healthcareServiceId: row.healthcare_service_id,
    start: row.starts_at,
    end: row.ends_at,
  };
}
