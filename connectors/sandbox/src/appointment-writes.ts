import { randomUUID } from 'node:crypto';
import {
  type Appointment,
  type AppointmentChange,
  type AppointmentCreation,
  type AppointmentWrite,
  type CareUnit,
  ConnectorError,
} from '@crossward/connector-kit';
import { type Kysely, sql, type Transaction } from 'kysely';
import { appointmentsById } from './appointment-reads.ts';
import { changedRow, type LockedRow } from './change-rules.ts';
import { slotTaken } from './database-errors.ts';
import type { Directory } from './directory.ts';
import { lockResources } from './resource-locks.ts';
import type { SandboxTables } from './tables.ts';
import { areScheduled, type WantedTime } from './time-slots.ts';

type Db = Kysely<SandboxTables>;
type Tx = Transaction<SandboxTables>;

/** Makes all changes or none in one transaction, and stores the operation id in it. */
export async function changeAppointments(
  db: Db,
  emr: string,
  directory: Directory,
  write: AppointmentWrite,
): Promise<readonly Appointment[]> {
  for (const change of write.changes) assertKnown(directory, write.careUnit, change);
  return db.transaction().execute(async (tx) => {
    const isNew = await storeOperation(tx, emr, write.operationId);
    if (isNew) {
      const ids = await apply(tx, emr, write);
      await tx
        .updateTable('sandbox.operations')
        .set({ appointment_ids: ids })
        .where('emr', '=', emr)
        .where('operation_id', '=', write.operationId)
        .execute();
      return appointmentsById(tx, emr, ids);
    }
    return (await findOperation(tx, emr, write.operationId)) ?? [];
  });
}

/** The current appointments of a write. `null`: no write with this operation id was done. */
export async function findOperation(db: Db, emr: string, operationId: string): Promise<readonly Appointment[] | null> {
  const done = await db
    .selectFrom('sandbox.operations')
    .select('appointment_ids')
    .where('emr', '=', emr)
    .where('operation_id', '=', operationId)
    .executeTakeFirst();
  return done ? appointmentsById(db, emr, done.appointment_ids) : null;
}

/** Whether the operation id is new. A concurrent write with the same id waits here for the first transaction. */
async function storeOperation(tx: Tx, emr: string, operationId: string): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await tx
    .insertInto('sandbox.operations')
    .values({ emr, operation_id: operationId, appointment_ids: [] })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirstOrThrow();
  return numInsertedOrUpdatedRows === 1n;
}

async function apply(tx: Tx, emr: string, { careUnit, changes }: AppointmentWrite): Promise<string[]> {
  const locked = await lockAppointments(tx, emr, careUnit.id, changes.flatMap(existingId));
  const rows = new Map<string, LockedRow>();
  const created: (AppointmentCreation & { readonly id: string })[] = [];
  const wanted: WantedTime[] = [];
  const ids = changes.map((change) => {
    if (change.kind === 'create') {
      const id = randomUUID();
      created.push({ ...change, id });
      wanted.push(change);
      return id;
    }
    const current = rows.get(change.appointmentId) ?? locked.get(change.appointmentId);
    if (!current) throw new ConnectorError('appointment_not_found', 'No such appointment in this care unit');
    const row = changedRow(current, change);
    rows.set(row.id, row);
    if (moves(current, row)) wanted.push(timeOf(row));
    else if (change.kind === 'confirm' || change.kind === 'extend') wanted.push({ ...timeOf(row), wasHeld: true });
    return row.id;
  });
  // A confirmed or extended hold needs its slots, too: a period may have been taken out after the hold expired.
  const leaving = [...rows.keys()].flatMap((id) => locked.get(id)?.resource_id ?? []);
  if (wanted.length > 0) await lockResources(tx, emr, [...leaving, ...wanted.map((it) => it.resourceId)]);
  // Under the lock: a schedule of the resource can no longer be ended, nor a period taken out.
  if (!(await areScheduled(tx, emr, careUnit, wanted))) throw slotTaken();
  for (const time of wanted) await cancelExpiredHolds(tx, emr, time, [...rows.keys()]);
  await updateRows(tx, emr, [...rows.values()]);
  await insertRows(tx, emr, careUnit, created);
  return ids;
}

function existingId(change: AppointmentChange): string[] {
  return change.kind === 'create' ? [] : [change.appointmentId];
}

/** Locks rows in the order of their ids, to prevent deadlocks. */
async function lockAppointments(
  tx: Tx,
  emr: string,
  careUnitId: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, LockedRow>> {
  if (ids.length === 0) return new Map();
  const rows = await tx
    .selectFrom('sandbox.appointments')
    .select(['id', 'resource_id', 'healthcare_service_id', 'starts_at', 'ends_at', 'state', 'held_until', 'comment'])
    .select(sql<boolean>`coalesce(held_until <= clock_timestamp(), false)`.as('is_expired'))
    .where('emr', '=', emr)
    .where('care_unit_id', '=', careUnitId)
    .where('id', 'in', [...ids])
    .orderBy('id')
    .forUpdate()
    .execute();
  return new Map(rows.map((row) => [row.id, row]));
}

/** Cancels expired holds in the time range, because the exclusion constraint still counts them. */
async function cancelExpiredHolds(tx: Tx, emr: string, time: WantedTime, except: readonly string[]): Promise<void> {
  await tx
    .updateTable('sandbox.appointments')
    .set({ state: 'cancelled', held_until: null })
    .where('emr', '=', emr)
    .where('resource_id', '=', time.resourceId)
    .where('state', '=', 'held')
    .where('held_until', '<=', sql<Date>`clock_timestamp()`)
    .where('starts_at', '<', time.end)
    .where('ends_at', '>', time.start)
    .$if(except.length > 0, (query) => query.where('id', 'not in', [...except]))
    .execute();
}

/** Updates all rows in one statement: the constraint is checked at its end, so appointments can swap times. */
async function updateRows(tx: Tx, emr: string, rows: readonly LockedRow[]): Promise<void> {
  if (rows.length === 0) return;
  await sql`
    UPDATE sandbox.appointments AS appointment
    SET resource_id = changed.resource_id, starts_at = changed.starts_at, ends_at = changed.ends_at,
      state = changed.state, held_until = changed.held_until, comment = changed.comment
    FROM json_to_recordset(${JSON.stringify(rows)}::json) AS changed
      (id text, resource_id text, starts_at timestamptz, ends_at timestamptz, state text, held_until timestamptz, comment text)
    WHERE appointment.emr = ${emr} AND appointment.id = changed.id`.execute(tx);
}

async function insertRows(
  tx: Tx,
  emr: string,
  careUnit: CareUnit,
  creations: readonly (AppointmentCreation & { readonly id: string })[],
): Promise<void> {
  if (creations.length === 0) return;
  await tx
    .insertInto('sandbox.appointments')
    .values(
      creations.map((creation) => ({
        emr,
        id: creation.id,
        care_unit_id: careUnit.id,
        patient_id: creation.patientId,
        resource_id: creation.resourceId,
        healthcare_service_id: creation.healthcareServiceId,
        starts_at: creation.start,
        ends_at: creation.end,
        state: creation.holdUntil ? ('held' as const) : ('booked' as const),
        held_until: creation.holdUntil,
        comment: creation.comment,
      })),
    )
    .execute();
}

/** Whether the change needs free time. A cancellation does not. */
function moves(before: LockedRow, after: LockedRow): boolean {
  if (after.state === 'cancelled') return false;
  return (
    before.resource_id !== after.resource_id ||
    before.starts_at.getTime() !== after.starts_at.getTime() ||
    before.ends_at.getTime() !== after.ends_at.getTime()
  );
}

function timeOf(row: LockedRow): WantedTime {
  return {
    resourceId: row.resource_id,
    healthcareServiceId: row.healthcare_service_id,
    start: row.starts_at,
    end: row.ends_at,
  };
}

function assertKnown(directory: Directory, careUnit: CareUnit, change: AppointmentChange): void {
  const resourceId = 'resourceId' in change ? change.resourceId : undefined;
  if (resourceId !== undefined && !directory.findResource(careUnit.id, { type: 'emr_id', value: resourceId })) {
    throw new ConnectorError('resource_not_found', 'No such resource in this care unit');
  }
  if (change.kind !== 'create') return;
  if (!directory.findPatient({ type: 'emr_id', value: change.patientId })) {
    throw new ConnectorError('patient_not_found', 'No such patient');
  }
  if (!directory.services.some((service) => service.id === change.healthcareServiceId)) {
    throw new ConnectorError('healthcare_service_not_found', 'No such healthcare service');
  }
}
