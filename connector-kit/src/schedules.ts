import type { CareUnit } from './records.ts';
import type { Withdrawal, Write } from './writes.ts';

/** A schedule of a resource: a period of a day, cut into time slots, that may recur. */
export interface Schedule {
  readonly id: string;
  readonly resourceId: string;
  readonly healthcareServiceIds: readonly string[];
  /** The first occurrence, local to the care unit: `YYYY-MM-DDThh:mm:ss`. */
  readonly localStart: string;
  readonly localEnd: string;
  readonly slotMinutes: number;
  /** A recurrence rule of RFC 5545 (section 3.3.10) without the `RRULE:` prefix, in local time. `null`: one occurrence. */
  readonly recurrence: string | null;
}

export interface ScheduleQuery {
  readonly careUnit: CareUnit;
  readonly resourceId: string;
  /** Schedules with an occurrence that overlaps the range. Absent: all. */
  readonly range?: { readonly start: Date; readonly end: Date } | undefined;
  /** Id of the last schedule that the caller has already seen. */
  readonly after?: string | undefined;
  readonly limit: number;
}

export interface ScheduleCreation extends Write, Omit<Schedule, 'id'> {}

/** Removes the occurrences that start at or after `end`. */
export interface ScheduleEnd extends Write {
  readonly scheduleId: string;
  readonly end: Date;
}

/** Removes the time slots that overlap a period. */
export interface ScheduleException extends Write {
  readonly scheduleId: string;
  readonly start: Date;
  readonly end: Date;
}

/** A schedule write gives or takes time slots at once. */
export interface ScheduleOperations {
  /** Schedules of the resource at the care unit, ordered by id (code units): at most `limit`, after `after`. */
  listSchedules(query: ScheduleQuery): Promise<readonly Schedule[]>;
  /** The schedule of this resource at this care unit, or `null`. */
  findSchedule(careUnit: CareUnit, resourceId: string, scheduleId: string): Promise<Schedule | null>;
  /** Creates a schedule with its time slots. Throws `schedule_overlap` when one of the resource's schedules is in the way. */
  createSchedule(write: ScheduleCreation): Promise<Schedule>;
  /** Throws `schedule_has_appointments` when appointments take slots that would be removed. */
  endSchedule(write: ScheduleEnd): Promise<Schedule>;
  /** Throws `schedule_has_appointments` when appointments take slots that would be removed. */
  addScheduleException(write: ScheduleException): Promise<Schedule>;
  /** The schedule of the write with this operation id. `null`: the write was never done, or it was withdrawn. */
  findScheduleWrite(careUnit: CareUnit, operationId: string): Promise<Schedule | null>;
  /** Reverts the write with this operation id, unless somebody has changed the schedule or booked its slots since. */
  withdrawSchedule(careUnit: CareUnit, operationId: string): Promise<Withdrawal>;
}
