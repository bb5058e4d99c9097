import { randomUUID } from 'node:crypto';
import {
  type Appointment,
  type AppointmentCancellation,
  type AppointmentCreation,
  type AppointmentUpdate,
  ConnectorError,
  type Write,
} from '@crossward/connector-kit';
import { type Kysely, sql, type Transaction } from 'kysely';
import { appointmentsById } from './appointment-reads.ts';
import { currentState } from './appointment-state.ts';
import { slotTaken } from './database-errors.ts';
import type { Directory } from './directory.ts';
import type { AppointmentRow, SandboxTables } from './tables.ts';
import { isBookable } from './time-slots.ts';

type Db = Kysely<SandboxTables>;
type Tx = Transaction<SandboxTables>;

export async function createAppointment(
  db: Db,
  emr: string,
  directory: Directory,
  creation: AppointmentCreation,
): Promise<Appointment> {
  const { careUnit, resourceId, healthcareServiceId, patientId, start, end, comment } = creation;
  assertKnown(directory, creation);
  return once(db, emr, creation, async (tx) => {
    if (!(await isBookable(tx, emr, { careUnit, resourceId, healthcareServiceId, start, end }))) throw slotTaken();
    await takeTurns(tx, emr, [resourceId]);
    await sweepExpiredHolds(tx, emr, resourceId, start, end);
    const id = randomUUID();
    await tx
      .insertInto('sandbox.appointments')
      .values({
        emr,
        id,
        care_unit_id: careUnit.id,
        patient_id: patientId,
        resource_id: resourceId,
        healthcare_service_id: healthcareServiceId,
        starts_at: start,
        ends_at: end,
        state: 'booked',
        held_until: null,
        comment,
      })
      .execute();
    return id;
  });
}

export async function updateAppointment(
  db: Db,
  emr: string,
  directory: Directory,
  update: AppointmentUpdate,
): Promise<Appointment> {
  const { appointmentId, careUnit, changes } = update;
  if (changes.resourceId !== undefined) assertResource(directory, careUnit.id, changes.resourceId);
  return once(db, emr, update, async (tx) => {
    const current = await lockAppointment(tx, emr, careUnit.id, appointmentId);
    if (current.state === 'cancelled') {
      throw new ConnectorError('appointment_cancelled', 'The appointment is cancelled');
    }
    if (current.state !== 'booked')
      throw new ConnectorError('appointment_pending', 'The appointment is not booked yet');
    const target = {
      resourceId: changes.resourceId ?? current.resource_id,
      start: changes.time?.start ?? current.starts_at,
      end: changes.time?.end ?? current.ends_at,
    };
    if (moves(current, target)) {
      const booking = { careUnit, healthcareServiceId: current.healthcare_service_id, ...target };
      if (!(await isBookable(tx, emr, booking))) throw slotTaken();
      await takeTurns(tx, emr, [current.resource_id, target.resourceId]);
      await sweepExpiredHolds(tx, emr, target.resourceId, target.start, target.end);
    }
    await tx
      .updateTable('sandbox.appointments')
      .set({
        resource_id: target.resourceId,
        starts_at: target.start,
        ends_at: target.end,
        ...(changes.comment !== undefined ? { comment: changes.comment } : {}),
      })
      .where('emr', '=', emr)
      .where('id', '=', appointmentId)
      .execute();
    return appointmentId;
  });
}

export async function cancelAppointment(
  db: Db,
  emr: string,
  cancellation: AppointmentCancellation,
): Promise<Appointment> {
  const { appointmentId, careUnit, comment } = cancellation;
  return once(db, emr, cancellation, async (tx) => {
    const current = await lockAppointment(tx, emr, careUnit.id, appointmentId);
    if (current.state !== 'cancelled') {
      await tx
        .updateTable('sandbox.appointments')
        .set({ state: 'cancelled', held_until: null, ...(comment !== undefined ? { comment } : {}) })
        .where('emr', '=', emr)
        .where('id', '=', appointmentId)
        .execute();
    }
    return appointmentId;
  });
}

/**
 * Does a write and notes its operation id, in one transaction. A second call with the id waits for the first one, finds
 * the note, and answers the appointment as it stands.
 */
async function once(db: Db, emr: string, write: Write, change: (tx: Tx) => Promise<string>): Promise<Appointment> {
  return db.transaction().execute(async (tx) => {
    const { numInsertedOrUpdatedRows: isNew } = await tx
      .insertInto('sandbox.operations')
      .values({ emr, operation_id: write.operationId, appointment_ids: [] })
      .onConflict((conflict) => conflict.doNothing())
      .executeTakeFirstOrThrow();
    let ids: string[];
    if (isNew) {
      ids = [await change(tx)];
      await tx
        .updateTable('sandbox.operations')
        .set({ appointment_ids: ids })
        .where('emr', '=', emr)
        .where('operation_id', '=', write.operationId)
        .execute();
    } else {
      const done = await tx
        .selectFrom('sandbox.operations')
        .select('appointment_ids')
        .where('emr', '=', emr)
        .where('operation_id', '=', write.operationId)
        .executeTakeFirstOrThrow();
      ids = done.appointment_ids;
    }
    const [appointment] = await appointmentsById(tx, emr, ids);
    if (!appointment) throw new Error('An appointment that was just written is gone');
    return appointment;
  });
}

/**
 * Writers to one resource follow one another. The exclusion constraint alone would keep them apart too, but racing
 * writers then wait for each other in a circle until PostgreSQL breaks it after a second.
 */
async function takeTurns(tx: Tx, emr: string, resourceIds: readonly string[]): Promise<void> {
  for (const id of [...new Set(resourceIds)].sort()) {
    await sql`SELECT pg_advisory_xact_lock(hashtextextended(${`sandbox ${emr} ${id}`}, 0))`.execute(tx);
  }
}

/** A hold that has run out no longer keeps its time, and the constraint has to see that. */
async function sweepExpiredHolds(tx: Tx, emr: string, resourceId: string, start: Date, end: Date): Promise<void> {
  await tx
    .updateTable('sandbox.appointments')
    .set({ state: 'cancelled', held_until: null })
    .where('emr', '=', emr)
    .where('resource_id', '=', resourceId)
    .where('state', '=', 'held')
    .where('held_until', '<=', sql<Date>`clock_timestamp()`)
    .where('starts_at', '<', end)
    .where('ends_at', '>', start)
    .execute();
}

type LockedRow = Pick<AppointmentRow, 'resource_id' | 'healthcare_service_id' | 'starts_at' | 'ends_at' | 'state'>;

async function lockAppointment(tx: Tx, emr: string, careUnitId: string, id: string): Promise<LockedRow> {
  const row = await tx
    .selectFrom('sandbox.appointments')
    .select(['resource_id', 'healthcare_service_id', 'starts_at', 'ends_at'])
    .select(currentState.as('state'))
    .where('emr', '=', emr)
    .where('care_unit_id', '=', careUnitId)
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirst();
  if (!row) throw new ConnectorError('appointment_not_found', 'No such appointment in this care unit');
  return row;
}

function moves(current: LockedRow, target: { resourceId: string; start: Date; end: Date }): boolean {
  return (
    current.resource_id !== target.resourceId ||
    current.starts_at.getTime() !== target.start.getTime() ||
    current.ends_at.getTime() !== target.end.getTime()
  );
}

function assertKnown(directory: Directory, creation: AppointmentCreation): void {
  if (!directory.findPatient({ type: 'emr_id', value: creation.patientId })) {
    throw new ConnectorError('patient_not_found', 'No such patient');
  }
  assertResource(directory, creation.careUnit.id, creation.resourceId);
  if (!directory.services.some((service) => service.id === creation.healthcareServiceId)) {
    throw new ConnectorError('healthcare_service_not_found', 'No such healthcare service');
  }
}

function assertResource(directory: Directory, careUnitId: string, resourceId: string): void {
  if (!directory.findResource(careUnitId, { type: 'emr_id', value: resourceId })) {
    throw new ConnectorError('resource_not_found', 'No such resource in this care unit');
  }
}
