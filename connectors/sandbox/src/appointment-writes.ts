import {
  type Appointment,
  type AppointmentChange,
  type AppointmentWrite,
  type CareUnit,
  ConnectorError,
} from '@crossward/connector-kit';
import { type Kysely, sql } from 'kysely';
import { appointmentsById } from './appointment-reads.ts';
import { hasStarted } from './appointment-state.ts';
import type { CurrentRow } from './change-rules.ts';
import { isSerializationFailure, slotTaken } from './database-errors.ts';
import type { Directory } from './directory.ts';
import { type PlannedRow, type PlannedWrite, planWrite } from './planned-write.ts';
import { locksOf } from './resource-locks.ts';
import type { ScheduleCache } from './schedule-cache.ts';
import { earliest, storeWrite } from './store-write.ts';
import { type SandboxTables, statement } from './tables.ts';
import { areScheduled, type WantedTime } from './time-slots.ts';

type Db = Kysely<SandboxTables>;

/**
 * Makes all changes or none, and stores the operation id with them. Reads without locks; the write itself is one
 * statement, which fails if what was read has changed since. Call it again after a serialization failure.
 */
export async function changeAppointments(
  db: Db,
  emr: string,
  directory: Directory,
  schedules: ScheduleCache,
  write: AppointmentWrite,
): Promise<readonly Appointment[]> {
  const { careUnit, operationId } = write;
  for (const change of write.changes) await assertKnown(directory, careUnit, change);
  let plan: PlannedWrite;
  let scheduleVersion: number | null;
  try {
    plan = planWrite(write, await readCurrent(db, emr, write));
    scheduleVersion = await assertScheduled(schedules, careUnit, plan.wanted);
  } catch (error) {
    if (!(error instanceof ConnectorError)) throw error;
    return rejectUnlessDone(db, emr, operationId, error);
  }
  try {
    const isNew = await storeWrite(db, {
      emr,
      operationId,
      ids: plan.ids,
      rows: [...plan.rows.values()],
      ...locksOf(emr, plan.times),
      scheduleVersion,
      earliestStart: earliest(plan.wanted.flatMap(({ start, wasHeld }) => (wasHeld ? [] : start))),
    });
    if (isNew) return plan.ids.flatMap((id) => appointment(plan.rows.get(id)));
  } catch (error) {
    if (isSerializationFailure(error)) schedules.forget(careUnit.id);
    throw error;
  }
  return (await findOperation(db, emr, operationId)) ?? [];
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

/** Throws the rejection, unless the write was done before. Waits for a concurrent write with the same id. */
async function rejectUnlessDone(
  db: Db,
  emr: string,
  operationId: string,
  rejection: ConnectorError,
): Promise<readonly Appointment[]> {
  await db.transaction().execute(async (tx) => {
    const { numInsertedOrUpdatedRows } = await tx
      .insertInto('sandbox.operations')
      .values({ emr, operation_id: operationId, appointment_ids: [] })
      .onConflict((conflict) => conflict.doNothing())
      .executeTakeFirstOrThrow();
    if (numInsertedOrUpdatedRows === 1n) throw rejection;
  });
  return (await findOperation(db, emr, operationId)) ?? [];
}

/** The rows that the write changes, by id. */
async function readCurrent(
  db: Db,
  emr: string,
  { careUnit, changes }: AppointmentWrite,
): Promise<ReadonlyMap<string, CurrentRow>> {
  const ids = changes.flatMap((change) => (change.kind === 'create' ? [] : [change.appointmentId]));
  if (ids.length === 0) return new Map();
  const { rows } = await selectCurrent(db, { emr, careUnitId: careUnit.id, ids });
  return new Map(rows.map((row) => [row.id, row]));
}

const selectCurrent = statement((db, input: { emr: string; careUnitId: string; ids: readonly string[] }) =>
  db
    .selectFrom('sandbox.appointments')
    .select(['id', 'care_unit_id', 'patient_id', 'resource_id', 'healthcare_service_id'])
    .select(['starts_at', 'ends_at', 'state', 'held_until', 'comment', 'attendance'])
    .select(sql<string>`xmin::text`.as('read_version'))
    .select(sql<boolean>`coalesce(held_until <= clock_timestamp(), false)`.as('is_expired'))
    .where('emr', '=', input.emr)
    .where('care_unit_id', '=', input.careUnitId)
    .where('id', '=', sql<string>`ANY(${input.ids}::text[])`),
);

/**
 * Returns the version of the schedules whose slots cover these times; `null` without times.
 *
 * @throws ConnectorError `time_slot_unavailable`
 */
async function assertScheduled(
  schedules: ScheduleCache,
  careUnit: CareUnit,
  wanted: readonly WantedTime[],
): Promise<number | null> {
  if (wanted.length === 0) return null;
  const known = await schedules.get(careUnit.id);
  if (areScheduled(known.schedules, careUnit, wanted)) return known.version;
  // A schedule may have been added since.
  schedules.forget(careUnit.id);
  const latest = await schedules.get(careUnit.id);
  if (areScheduled(latest.schedules, careUnit, wanted)) return latest.version;
  throw slotTaken();
}

function appointment(row: PlannedRow | undefined): Appointment[] {
  if (!row) return [];
  const state = row.is_expired ? 'cancelled' : row.state;
  return [
    {
      id: row.id,
      state,
      heldUntil: state === 'held' ? row.held_until : null,
      hasStarted: hasStarted(row),
      start: row.starts_at,
      end: row.ends_at,
      comment: row.comment,
      patientId: row.patient_id,
      resourceId: row.resource_id,
      healthcareServiceId: row.healthcare_service_id,
      careUnitId: row.care_unit_id,
      attendance: row.attendance,
    },
  ];
}

async function assertKnown(directory: Directory, careUnit: CareUnit, change: AppointmentChange): Promise<void> {
  const resourceId = 'resourceId' in change ? change.resourceId : undefined;
  if (resourceId !== undefined && !directory.findResource(careUnit.id, { type: 'emr_id', value: resourceId })) {
    throw new ConnectorError('resource_not_found', 'No such resource in this care unit');
  }
  if (change.kind !== 'create') return;
  if (!(await directory.findPatient({ type: 'emr_id', value: change.patientId }))) {
    throw new ConnectorError('patient_not_found', 'No such patient');
  }
  if (!directory.services.some((service) => service.id === change.healthcareServiceId)) {
    throw new ConnectorError('healthcare_service_not_found', 'No such healthcare service');
  }
}
