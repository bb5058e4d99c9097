import type { CareUnit } from '@crossward/connector-kit';
import { type Kysely, sql } from 'kysely';
import { RRuleTemporal } from 'rrule-temporal';
import { Temporal } from 'temporal-polyfill';
import type { Directory } from './directory.ts';
import type { SandboxTables } from './tables.ts';

export interface Schedule {
  readonly resourceId: string;
  readonly healthcareServiceIds: readonly string[];
  /** Local to the care unit, `YYYY-MM-DDThh:mm:ss`. */
  readonly localStart: string;
  readonly localEnd: string;
  readonly slotMinutes: number;
  readonly recurrence: string | null;
}

export interface SlotTime {
  readonly start: Date;
  readonly end: Date;
}

/** Working hours of every resource: Monday to Friday, 08:00–12:00 and 13:00–16:00 local time. */
const workingDay = [
  { part: 'morning', from: '08:00:00', to: '12:00:00' },
  { part: 'afternoon', from: '13:00:00', to: '16:00:00' },
];
const firstMonday = '2024-01-01';
const everyWeekday = 'FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR';

export interface OpeningHours extends Schedule {
  readonly id: string;
  readonly careUnitId: string;
}

/**
 * The working hours of all resources of a new sandbox.
 *
 * @internal tests load FHIR servers with the same opening hours
 */
export function openingHoursOf(careUnits: readonly CareUnit[], directory: Directory): OpeningHours[] {
  return careUnits.flatMap((careUnit) =>
    directory.resourcesOf(careUnit.id).flatMap((resource) =>
      workingDay.map(({ part, from, to }) => ({
        id: `${resource.id}-${part}`,
        careUnitId: careUnit.id,
        resourceId: resource.id,
        healthcareServiceIds: resource.healthcareServiceIds,
        localStart: `${firstMonday}T${from}`,
        localEnd: `${firstMonday}T${to}`,
        slotMinutes: 30,
        recurrence: everyWeekday,
      })),
    ),
  );
}

/** Stores the working hours of a new sandbox. Idempotent, and safe to run concurrently. */
export async function seedSchedules(
  db: Kysely<SandboxTables>,
  emr: string,
  careUnits: readonly CareUnit[],
  directory: Directory,
): Promise<void> {
  const rows = openingHoursOf(careUnits, directory).map((it) => ({
    emr,
    id: it.id,
    care_unit_id: it.careUnitId,
    resource_id: it.resourceId,
    healthcare_service_ids: [...it.healthcareServiceIds],
    local_start: it.localStart,
    local_end: it.localEnd,
    slot_minutes: it.slotMinutes,
    recurrence: it.recurrence,
  }));
  if (rows.length === 0) return;
  await db
    .insertInto('sandbox.schedules')
    .values(rows)
    .onConflict((conflict) => conflict.columns(['emr', 'id']).doNothing())
    .execute();
}

/** Schedules and the current time of the database, the only clock used for slots and holds. `undefined`: no schedules. */
export async function loadSchedules(
  db: Kysely<SandboxTables>,
  emr: string,
  careUnitId: string,
  resourceIds: readonly string[] | undefined,
): Promise<{ readonly schedules: readonly Schedule[]; readonly now: Date } | undefined> {
  const rows = await db
    .selectFrom('sandbox.schedules')
    .select([
      'resource_id as resourceId',
      'healthcare_service_ids as healthcareServiceIds',
      'local_start as localStart',
      'local_end as localEnd',
      'slot_minutes as slotMinutes',
      'recurrence',
    ])
    .select(sql<Date>`clock_timestamp()`.as('now'))
    .where('emr', '=', emr)
    .where('care_unit_id', '=', careUnitId)
    .$if(resourceIds !== undefined, (query) => query.where('resource_id', 'in', [...(resourceIds ?? [])]))
    .execute();
  const [first] = rows;
  return first && { schedules: rows, now: first.now };
}

type Timetable = Pick<Schedule, 'localStart' | 'localEnd' | 'slotMinutes' | 'recurrence'>;

/**
 * The slots of one schedule that lie wholly inside `window`, ordered by time. A schedule starts and ends at local times;
 * between them, slots follow each other in elapsed time, so that a clock change neither loses nor duplicates a slot.
 */
export function slotsOf(schedule: Timetable, timeZone: string, window: SlotTime): SlotTime[] {
  const slots: SlotTime[] = [];
  const last = Math.floor(window.end.getTime() / weekMilliseconds);
  for (let week = Math.floor(window.start.getTime() / weekMilliseconds); week <= last; week++) {
    for (const slot of slotsOfWeek(schedule, timeZone, week)) {
      if (slot.start >= window.start && slot.end <= window.end) slots.push(slot);
    }
  }
  return slots;
}

const weekMilliseconds = 7 * 24 * 60 * 60 * 1000;
const weeks = new Map<string, readonly SlotTime[]>();
const weeksKept = 1000;

/** The slots that start in a week, counted from 1970. Cached, because computing them dominates the cost of a search. */
function slotsOfWeek(schedule: Timetable, timeZone: string, week: number): readonly SlotTime[] {
  const key = `${timetableOf(schedule)} ${timeZone} ${week}`;
  const known = weeks.get(key);
  if (known) return known;
  const start = new Date(week * weekMilliseconds);
  const slots = slotsStartingIn(schedule, timeZone, { start, end: new Date(start.getTime() + weekMilliseconds) });
  if (weeks.size >= weeksKept) weeks.clear();
  weeks.set(key, slots);
  return slots;
}

/** Cache key: schedules with the same timetable have the same slots. */
export function timetableOf({ localStart, localEnd, slotMinutes, recurrence }: Timetable): string {
  return `${localStart} ${localEnd} ${slotMinutes} ${recurrence}`;
}

function slotsStartingIn(schedule: Timetable, timeZone: string, window: SlotTime): SlotTime[] {
  const slotMilliseconds = schedule.slotMinutes * 60_000;
  const localStart = Temporal.PlainDateTime.from(schedule.localStart);
  const length = localStart.until(Temporal.PlainDateTime.from(schedule.localEnd));
  const slots: SlotTime[] = [];
  for (const occurrence of occurrencesIn(schedule, timeZone, window, length)) {
    const dayEnd = occurrence.toPlainDateTime().add(length).toZonedDateTime(timeZone).epochMilliseconds;
    for (let start = occurrence.epochMilliseconds; start + slotMilliseconds <= dayEnd; start += slotMilliseconds) {
      if (start >= window.start.getTime() && start < window.end.getTime()) {
        slots.push({ start: new Date(start), end: new Date(start + slotMilliseconds) });
      }
    }
  }
  return slots;
}

/** The starts of all occurrences that overlap the window. */
function occurrencesIn(
  schedule: Timetable,
  timeZone: string,
  window: SlotTime,
  length: Temporal.Duration,
): Temporal.ZonedDateTime[] {
  if (schedule.recurrence === null) {
    return [Temporal.PlainDateTime.from(schedule.localStart).toZonedDateTime(timeZone)];
  }
  const rule = recurrenceRule(schedule.localStart, schedule.recurrence, timeZone);
  // One extra hour, because the clock may be set forward during the occurrence.
  const from = zoned(window.start, timeZone).subtract(length).subtract({ hours: 1 });
  return rule.between(from, zoned(window.end, timeZone), true);
}

const rules = new Map<string, RRuleTemporal<Temporal.ZonedDateTime>>();
const rulesKept = 1000;

/** Cached: parsing a rule is expensive, and a rule speeds up repeated queries. */
function recurrenceRule(
  localStart: string,
  recurrence: string,
  timeZone: string,
): RRuleTemporal<Temporal.ZonedDateTime> {
  const key = `${localStart} ${timeZone} ${recurrence}`;
  const known = rules.get(key);
  if (known) return known;
  const rule = new RRuleTemporal({
    rruleString: recurrence,
    dtstart: Temporal.PlainDateTime.from(localStart).toZonedDateTime(timeZone),
    temporal: Temporal,
  });
  if (rules.size >= rulesKept) rules.clear();
  rules.set(key, rule);
  return rule;
}

function zoned(date: Date, timeZone: string): Temporal.ZonedDateTime {
  return Temporal.Instant.fromEpochMilliseconds(date.getTime()).toZonedDateTimeISO(timeZone);
}
