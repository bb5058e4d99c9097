import type { CareUnit } from './records.ts';
import type { Withdrawal, Write } from './writes.ts';

/** `start` is inclusive, `end` is exclusive. */
export interface Period {
  readonly start: Date;
  readonly end: Date;
}

/** What determines the times of a schedule: a period of a day, cut into time slots, that may recur. */
export interface Timetable {
  /** The first occurrence, local to the care unit: `YYYY-MM-DDThh:mm:ss`. */
  readonly localStart: string;
  readonly localEnd: string;
  readonly slotMinutes: number;
  /** A recurrence rule of RFC 5545 (section 3.3.10) without the `RRULE:` prefix, in local time. `null`: one occurrence. */
  readonly recurrence: string | null;
  /** No occurrence starts at or after this instant, whatever `recurrence` says. `null`: the schedule was not ended. */
  readonly endsAt: Date | null;
  /** Slots that overlap one of these periods are taken out. */
  readonly exceptions: readonly Period[];
}

/**
 * A schedule of a resource. An EHR may have schedules that are no more than a set of time slots: then `localStart` and
 * `localEnd` are the period of all of them, and what the EHR does not say is `null`.
 */
export interface Schedule extends Pick<Timetable, 'recurrence' | 'endsAt' | 'exceptions'> {
  readonly id: string;
  readonly resourceId: string;
  readonly healthcareServiceIds: readonly string[];
  readonly localStart: string | null;
  readonly localEnd: string | null;
  readonly slotMinutes: number | null;
}

/** Which schedules to list. */
export interface ScheduleQuery {
  readonly careUnit: CareUnit;
  readonly resourceId: string;
  /** Schedules with an occurrence that overlaps the range. Absent: all. */
  readonly range?: Period | undefined;
  /** Id of the last schedule that the caller has already seen. */
  readonly after?: string | undefined;
  readonly limit: number;
}

/** A schedule to create, without ends and exceptions. */
export interface ScheduleCreation extends Write, Omit<Timetable, 'endsAt' | 'exceptions'> {
  readonly resourceId: string;
  readonly healthcareServiceIds: readonly string[];
}

/** Removes the occurrences that start at or after `end`. A schedule that ends earlier already is not changed. */
export interface ScheduleEnd extends Write {
  readonly resourceId: string;
  readonly scheduleId: string;
  readonly end: Date;
}

/** Removes the time slots that overlap the period. */
export interface ScheduleException extends Write, Period {
  readonly resourceId: string;
  readonly scheduleId: string;
}

/**
 * A schedule write gives or takes time slots at once. Ending a schedule and taking a period out never leave an appointment
 * that is booked or held without its slots: either the booking or the schedule write is rejected.
 */
export interface ScheduleOperations {
  /** Schedules of the resource at the care unit, ordered by id (code units): at most `limit`, after `after`. */
  listSchedules(query: ScheduleQuery): Promise<readonly Schedule[]>;
  /** The schedule of this resource at this care unit, or `null`. */
  findSchedule(careUnit: CareUnit, resourceId: string, scheduleId: string): Promise<Schedule | null>;
  /**
   * Creates a schedule with its time slots. Throws `schedule_overlap` when it overlaps another schedule of the resource
   * within two years, at whichever care unit.
   */
  createSchedule(write: ScheduleCreation): Promise<Schedule>;
  /** Throws `schedule_has_appointments` with their ids when appointments take slots that would be removed. */
  endSchedule(write: ScheduleEnd): Promise<Schedule>;
  /** Throws `schedule_has_appointments` with their ids when appointments take slots that would be removed. */
  addScheduleException(write: ScheduleException): Promise<Schedule>;
  /** The schedule of the write with this operation id. `null`: the write was never done, or it was withdrawn. */
  findScheduleWrite(careUnit: CareUnit, operationId: string): Promise<Schedule | null>;
  /** Reverts the write with this operation id, unless somebody has changed the schedule or booked its slots since. */
  withdrawSchedule(careUnit: CareUnit, operationId: string): Promise<Withdrawal>;
  /**
   * For an EHR that stores time slots: adds those that have come within its horizon. Never adds a slot twice. The gateway
   * calls it from time to time.
   */
  extendSchedules(careUnit: CareUnit): Promise<void>;
}
