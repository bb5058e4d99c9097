import type { CareUnit, Schedule, Withdrawal } from '@crossward/connector-kit';
import type { Kysely, Transaction } from 'kysely';
import { lockResource } from './resource-locks.ts';
import { appointmentsInTheWay, overlapsAnother } from './schedule-conflicts.ts';
import { findSchedule, findScheduleWrite, type SandboxSchedule } from './schedule-reads.ts';
import type { SandboxTables } from './tables.ts';

type Tx = Transaction<SandboxTables>;

/** Reverts a write to a schedule, unless somebody has changed the schedule or booked its slots since. */
export function withdrawSchedule(
  db: Kysely<SandboxTables>,
  emr: string,
  careUnit: CareUnit,
  operationId: string,
): Promise<Withdrawal> {
  return db.transaction().execute(async (tx) => {
    // A write that has not been done yet is not done any more.
    await tx
      .insertInto('sandbox.schedule_writes')
      .values({ emr, operation_id: operationId, schedule_id: '', kind: 'none', withdrawn: true })
      .onConflict((conflict) => conflict.doNothing())
      .execute();
    const schedule = await findScheduleWrite(tx, emr, careUnit, operationId);
    if (!schedule) return 'withdrawn';
    await lockResource(tx, emr, schedule.resourceId);
    const writes = await writesTo(tx, emr, schedule.id);
    const kind = writes.find((it) => it.operation_id === operationId)?.kind;
    const isFree =
      kind === 'create'
        ? writes.length === 1 && (await isUnused(tx, emr, careUnit, schedule))
        : !(await wouldOverlap(tx, emr, careUnit, schedule, operationId));
    if (!isFree) return 'changed';
    await mark(tx, emr, operationId, true);
    if (kind === 'create') await remove(tx, emr, schedule.id);
    return 'withdrawn';
  });
}

/** The writes that the schedule shows. */
function writesTo(tx: Tx, emr: string, scheduleId: string) {
  return tx
    .selectFrom('sandbox.schedule_writes')
    .select(['operation_id', 'kind'])
    .where('emr', '=', emr)
    .where('schedule_id', '=', scheduleId)
    .where('withdrawn', '=', false)
    .execute();
}

async function isUnused(tx: Tx, emr: string, careUnit: CareUnit, schedule: SandboxSchedule): Promise<boolean> {
  return (await appointmentsInTheWay(tx, emr, careUnit, schedule, undefined, { start: new Date(0) })).length === 0;
}

/** Whether the schedule overlaps another one without this write: its times may have been given away since. */
async function wouldOverlap(
  tx: Tx,
  emr: string,
  careUnit: CareUnit,
  { resourceId, id }: Schedule,
  operationId: string,
): Promise<boolean> {
  await mark(tx, emr, operationId, true);
  const restored = await findSchedule(tx, emr, careUnit, resourceId, id);
  await mark(tx, emr, operationId, false);
  return restored !== null && overlapsAnother(tx, emr, careUnit, restored);
}

async function mark(tx: Tx, emr: string, operationId: string, withdrawn: boolean): Promise<void> {
  await tx
    .updateTable('sandbox.schedule_writes')
    .set({ withdrawn })
    .where('emr', '=', emr)
    .where('operation_id', '=', operationId)
    .execute();
}

async function remove(tx: Tx, emr: string, scheduleId: string): Promise<void> {
  await tx.deleteFrom('sandbox.schedules').where('emr', '=', emr).where('id', '=', scheduleId).execute();
}
