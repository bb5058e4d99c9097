import type { CareUnit, Period, Schedule, ScheduleQuery, Timetable } from '@crossward/connector-kit';
import { openPeriodsOf } from '@crossward/connector-kit/timetable';
import { type Kysely, type SelectQueryBuilder, sql } from 'kysely';
import type { SandboxTables } from './tables.ts';

type Db = Kysely<SandboxTables>;

/** A schedule whose times are known: all those of a sandbox. */
export type SandboxSchedule = Schedule & Timetable;

/** Schedules and the current time of the database, the only clock used for slots and holds. `undefined`: no schedules. */
export async function loadSchedules(
  db: Db,
  emr: string,
  careUnitId: string,
  resourceIds: readonly string[] | undefined,
): Promise<{ readonly schedules: readonly SandboxSchedule[]; readonly now: Date } | undefined> {
  const rows = await selectSchedules(db, emr, careUnitId)
    .select(sql<Date>`clock_timestamp()`.as('now'))
    .$if(resourceIds !== undefined, (query) => query.where('resource_id', 'in', [...(resourceIds ?? [])]))
    .execute();
  const [first] = rows;
  return first && { schedules: rows.map(schedule), now: first.now };
}

export interface LoadedSchedules {
  readonly schedules: readonly SandboxSchedule[];
  /** Changes with every change to a schedule of the sandbox. */
  readonly version: number;
}

/** All schedules of a care unit, and the version that they have at least: it is read first. */
export async function loadSchedulesWithVersion(db: Db, emr: string, careUnitId: string): Promise<LoadedSchedules> {
  const current = await db
    .selectFrom('sandbox.schedule_versions')
    .select('version')
    .where('emr', '=', emr)
    .executeTakeFirst();
  const rows = await selectSchedules(db, emr, careUnitId).execute();
  return { schedules: rows.map(schedule), version: current?.version ?? 0 };
}

/** A page of schedules. A range needs their occurrences, so all of the resource are read: they are few. */
export async function listSchedules(db: Db, emr: string, query: ScheduleQuery): Promise<readonly Schedule[]> {
  const { careUnit, resourceId, range, after, limit } = query;
  const rows = await selectSchedules(db, emr, careUnit.id)
    .where('resource_id', '=', resourceId)
    .$if(after !== undefined, (select) => select.where('id', '>', after ?? ''))
    .orderBy('id')
    .$if(range === undefined, (select) => select.limit(limit))
    .execute();
  return rows
    .map(schedule)
    .filter((it) => range === undefined || openPeriodsOf(it, careUnit.timeZone, range).length > 0)
    .slice(0, limit);
}

export async function findSchedule(
  db: Db,
  emr: string,
  careUnit: CareUnit,
  resourceId: string,
  scheduleId: string,
): Promise<SandboxSchedule | null> {
  const row = await selectSchedules(db, emr, careUnit.id)
    .where('resource_id', '=', resourceId)
    .where('id', '=', scheduleId)
    .executeTakeFirst();
  return row ? schedule(row) : null;
}

/** The schedule of the write with this operation id, unless it was withdrawn. */
export async function findScheduleWrite(
  db: Db,
  emr: string,
  careUnit: CareUnit,
  operationId: string,
): Promise<SandboxSchedule | null> {
  const row = await selectSchedules(db, emr, careUnit.id)
    .where('id', 'in', (write) =>
      write
        .selectFrom('sandbox.schedule_writes')
        .select('schedule_id')
        .where('emr', '=', emr)
        .where('operation_id', '=', operationId)
        .where('withdrawn', '=', false),
    )
    .executeTakeFirst();
  return row ? schedule(row) : null;
}

interface SelectedRow extends Omit<SandboxSchedule, 'exceptions'> {
  /** Dates as text. */
  readonly exceptions: readonly { readonly start: string; readonly end: string }[];
}

/** Schedules with what later writes have taken from them. */
function selectSchedules(
  db: Db,
  emr: string,
  careUnitId: string,
): SelectQueryBuilder<SandboxTables, 'sandbox.schedules', SelectedRow> {
  const writes = sql`sandbox.schedule_writes AS write
    WHERE write.emr = schedules.emr AND write.schedule_id = schedules.id AND NOT write.withdrawn`;
  return db
    .selectFrom('sandbox.schedules')
    .select([
      'id',
      'resource_id as resourceId',
      'healthcare_service_ids as healthcareServiceIds',
      'local_start as localStart',
      'local_end as localEnd',
      'slot_minutes as slotMinutes',
      'recurrence',
      sql<Date | null>`(SELECT min(write.ends_at) FROM ${writes} AND write.kind = 'end')`.as('endsAt'),
      sql<SelectedRow['exceptions']>`(
        SELECT coalesce(json_agg(json_build_object('start', write.starts_at, 'end', write.ends_at)
          ORDER BY write.starts_at, write.ends_at), '[]')
        FROM ${writes} AND write.kind = 'exception')`.as('exceptions'),
    ])
    .where('emr', '=', emr)
    .where('care_unit_id', '=', careUnitId);
}

function schedule(row: SelectedRow): SandboxSchedule {
  return {
    id: row.id,
    resourceId: row.resourceId,
    healthcareServiceIds: row.healthcareServiceIds,
    localStart: row.localStart,
    localEnd: row.localEnd,
    slotMinutes: row.slotMinutes,
    recurrence: row.recurrence,
    endsAt: row.endsAt,
    exceptions: row.exceptions.map(({ start, end }): Period => ({ start: new Date(start), end: new Date(end) })),
  };
}
