import { randomUUID } from 'node:crypto';
import {
  ConnectorError,
  type Schedule,
  type ScheduleCreation,
  type ScheduleEnd,
  type ScheduleException,
  type Write,
} from '@crossward/connector-kit';
import type { Kysely, Transaction } from 'kysely';
import type { Directory } from './directory.ts';
import { lockResource } from './resource-locks.ts';
import { appointmentsInTheWay, assertNoneInTheWay, overlapsAnother } from './schedule-conflicts.ts';
import { findSchedule, findScheduleWrite, type SandboxSchedule } from './schedule-reads.ts';
import type { SandboxTables, ScheduleWriteEntry } from './tables.ts';

type Db = Kysely<SandboxTables>;
type Tx = Transaction<SandboxTables>;

/** Creates a schedule. Its time slots are computed when they are listed. */
export async function createSchedule(
  db: Db,
  emr: string,
  directory: Directory,
  creation: ScheduleCreation,
): Promise<Schedule> {
  const { careUnit, resourceId, healthcareServiceIds, localStart, localEnd, slotMinutes, recurrence } = creation;
  assertOffered(directory, creation);
  const id = randomUUID();
  return once(db, emr, creation, { schedule_id: id, kind: 'create' }, async (tx) => {
    await lockResource(tx, emr, resourceId);
    if (await overlapsAnother(tx, emr, careUnit, { ...creation, endsAt: null, exceptions: [] })) {
      throw new ConnectorError('schedule_overlap', 'Another schedule of the resource has the same times');
    }
    await tx
      .insertInto('sandbox.schedules')
      .values({
        emr,
        id,
        care_unit_id: careUnit.id,
        resource_id: resourceId,
        healthcare_service_ids: [...healthcareServiceIds],
        local_start: localStart,
        local_end: localEnd,
        slot_minutes: slotMinutes,
        recurrence,
      })
      .execute();
  });
}

/** Removes the occurrences from `end` on, unless appointments take their slots. */
export async function endSchedule(db: Db, emr: string, write: ScheduleEnd): Promise<Schedule> {
  const { scheduleId, end } = write;
  const entry = { schedule_id: scheduleId, kind: 'end', ends_at: end } as const;
  return once(db, emr, write, entry, (tx) =>
    take(tx, emr, write, { start: end }, (schedule) => ({
      ...schedule,
      endsAt: schedule.endsAt && schedule.endsAt < end ? schedule.endsAt : end,
    })),
  );
}

/** Takes out the slots that overlap the period, unless appointments take them. */
export async function addScheduleException(db: Db, emr: string, write: ScheduleException): Promise<Schedule> {
  const { scheduleId, start, end } = write;
  const entry = { schedule_id: scheduleId, kind: 'exception', starts_at: start, ends_at: end } as const;
  return once(db, emr, write, entry, (tx) =>
    take(tx, emr, write, { start, end }, (schedule) => ({
      ...schedule,
      exceptions: [...schedule.exceptions, { start, end }],
    })),
  );
}

/** Stores the operation id with the write in one transaction. A second call returns the schedule as it is now. */
async function once(
  db: Db,
  emr: string,
  { operationId, careUnit }: Write,
  entry: ScheduleWriteEntry,
  perform: (tx: Tx) => Promise<void>,
): Promise<Schedule> {
  return db.transaction().execute(async (tx) => {
    // A concurrent write with the same id waits here for the first transaction.
    const { numInsertedOrUpdatedRows } = await tx
      .insertInto('sandbox.schedule_writes')
      .values({ emr, operation_id: operationId, schedule_id: entry.schedule_id, kind: 'none' })
      .onConflict((conflict) => conflict.doNothing())
      .executeTakeFirstOrThrow();
    if (numInsertedOrUpdatedRows === 1n) {
      await perform(tx);
      await tx
        .updateTable('sandbox.schedule_writes')
        .set(entry)
        .where('emr', '=', emr)
        .where('operation_id', '=', operationId)
        .execute();
    }
    const schedule = await findScheduleWrite(tx, emr, careUnit, operationId);
    if (!schedule) throw new ConnectorError('rejected', 'The write was withdrawn');
    return schedule;
  });
}

/** @throws ConnectorError `schedule_has_appointments`, `schedule_not_found` */
async function take(
  tx: Tx,
  emr: string,
  { careUnit, resourceId, scheduleId }: ScheduleEnd | ScheduleException,
  changed: { readonly start: Date; readonly end?: Date },
  change: (schedule: SandboxSchedule) => SandboxSchedule,
): Promise<void> {
  await lockResource(tx, emr, resourceId);
  const schedule = await findSchedule(tx, emr, careUnit, resourceId, scheduleId);
  if (!schedule) throw new ConnectorError('schedule_not_found', 'No such schedule of this resource');
  assertNoneInTheWay(await appointmentsInTheWay(tx, emr, careUnit, schedule, change(schedule), changed));
}

function assertOffered(directory: Directory, { careUnit, resourceId, healthcareServiceIds }: ScheduleCreation): void {
  const resource = directory.findResource(careUnit.id, { type: 'emr_id', value: resourceId });
  if (!resource) throw new ConnectorError('resource_not_found', 'No such resource in this care unit');
  if (!healthcareServiceIds.every((id) => resource.healthcareServiceIds.includes(id))) {
    throw new ConnectorError('healthcare_service_not_found', 'The resource does not offer this healthcare service');
  }
}
