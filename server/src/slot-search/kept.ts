import type { Modality } from '@crossward/connector-kit';
import { type RawBuilder, sql } from 'kysely';
import { grouped } from '../db/grouped.ts';
import type { Db, Tx } from '../db/kysely.ts';

/** A free time slot as it is kept. Times in milliseconds since 1970, ids of the EHR. */
export type KeptSlot = readonly [
  start: number,
  end: number,
  resourceId: string,
  healthcareServiceId: string,
  modality: Modality | null,
];

/** The free time slots of a care unit that start on one of its local days. */
export interface KeptDay {
  /** `YYYY-MM-DD` */
  readonly day: string;
  /** Just before the EHR was asked, by the database's clock. Milliseconds since 1970. */
  readonly askedAt: number;
  /** The local day on which the last slot ends: `day`, or a later one. */
  readonly lastDay: string;
  /** In the order of start, resource and service. */
  readonly slots: readonly KeptSlot[];
}

/** Whose free time slots are looked for. */
export interface Whose {
  readonly emr: string;
  readonly careUnitId: string;
  /** Of the connection to the EHR: what another one has shown is not used. */
  readonly source: string;
  /** `undefined`: every healthcare service. */
  readonly serviceIds: readonly string[] | undefined;
}

/** Days from `firstDay`, before `endDay`. */
export interface WantedDays extends Whose {
  readonly firstDay: string;
  readonly endDay: string;
  /** How long after a request without an answer the EHR may still perform it. */
  readonly settlingSeconds: number;
}

export interface KeptDays {
  /** By the database's clock. Milliseconds since 1970. */
  readonly now: number;
  /** When a change was last seen, or a write begun that is open. Milliseconds since 1970. 0: not lately. */
  readonly changedAt: number;
  /** Days that are kept for every wanted service, by day. */
  readonly days: ReadonlyMap<string, KeptDay>;
}

/** Stands for every healthcare service. */
const everyService = '';

interface Row {
  readonly place: number;
  readonly now: Date;
  readonly changed_at: Date | null;
  readonly healthcare_service_id: string | null;
  readonly day: string;
  readonly last_day: string;
  readonly asked_at: Date;
  readonly slots: readonly KeptSlot[];
}

/**
 * What is kept of these days, in the order of `wanted`. Left out is what is older than `maxAgeSeconds`, and what was asked for
 * before a change: of an appointment on that day, or of a schedule of the care unit. Days on which a write whose outcome is not
 * known may have taken time are left out until the EHR was asked after it had settled.
 */
export async function readKeptDays(
  db: Db,
  wanted: readonly WantedDays[],
  maxAgeSeconds: number,
): Promise<readonly KeptDays[]> {
  if (maxAgeSeconds === 0) {
    // Nothing is new enough, and each question that is being asked is older.
    const { rows } = await sql<Pick<Row, 'now'>>`SELECT clock_timestamp() AS now`.execute(db);
    const { now } = rows[0] as Row;
    return wanted.map(() => ({ now: now.getTime(), changedAt: 0, days: new Map() }));
  }
  const asked = wanted.map(({ emr, careUnitId, source, serviceIds, firstDay, endDay, settlingSeconds }, place) => ({
    place,
    emr,
    care_unit_id: careUnitId,
    source,
    settling: settlingSeconds,
    services: [everyService, ...(serviceIds ?? [])],
    first_day: firstDay,
    end_day: endDay,
  }));
  const { rows } = await sql<Row>`
    WITH wanted AS (
      SELECT * FROM json_to_recordset(${JSON.stringify(asked)}::json) AS wanted (
        place int, emr text, care_unit_id text, source text, settling float8, services text[], first_day date, end_day date))
    SELECT wanted.place, clock_timestamp() AS now, greatest(unit.changed_at, last_event.occurred_at, open_write.sent_at) AS changed_at,
      kept.healthcare_service_id, kept.day::text AS day, kept.last_day::text AS last_day, kept.asked_at, kept.slots
    FROM wanted
    LEFT JOIN timeslot_changes AS unit ON unit.emr = wanted.emr AND unit.care_unit_id = wanted.care_unit_id
    LEFT JOIN LATERAL (
      SELECT occurred_at FROM events
      WHERE emr = wanted.emr AND care_unit_id = wanted.care_unit_id AND ${isOfAppointment}
        AND occurred_at > now() - ${longestAsk}
      ORDER BY occurred_at DESC LIMIT 1) AS last_event ON true
    LEFT JOIN LATERAL (
      SELECT max(last_sent_at) AS sent_at FROM operations
      WHERE emr = wanted.emr AND care_unit_id = wanted.care_unit_id AND takes_from IS NOT NULL AND sealed_plan IS NOT NULL
      ) AS open_write ON true
    LEFT JOIN kept_timeslots AS kept ON kept.emr = wanted.emr AND kept.care_unit_id = wanted.care_unit_id
      AND kept.healthcare_service_id = ANY(wanted.services) AND kept.day >= wanted.first_day AND kept.day < wanted.end_day
      AND kept.source = wanted.source
      AND kept.asked_at > now() - make_interval(secs => ${maxAgeSeconds})
      AND NOT ${hasChanged(sql`make_interval(secs => wanted.settling)`)}`.execute(db);
  return wanted.map(({ serviceIds }, place) => {
    const own = rows.filter((row) => row.place === place);
    const [first] = own;
    if (!first) throw new Error('The database returned no row');
    return {
      now: first.now.getTime(),
      changedAt: first.changed_at?.getTime() ?? 0,
      days: daysOf(own, serviceIds),
    };
  });
}

/** No call to an EHR takes longer. */
const longestAsk = sql`interval '1 hour'`;

const isOfAppointment = sql`type LIKE 'appointment.%'`;

/** A day of a care unit, of which an EHR has shown the free time slots. */
export interface ShownDay extends Pick<KeptDay, 'day' | 'lastDay' | 'askedAt'> {
  readonly emr: string;
  readonly careUnitId: string;
}

/** Which of these days have changed since the EHR was asked for them, as far as the gateway knows. */
export async function changedDays<Day extends ShownDay>(db: Db, days: readonly Day[]): Promise<readonly Day[]> {
  const shown = days.map(({ emr, careUnitId, day, lastDay, askedAt }, place) => ({
    place,
    emr,
    care_unit_id: careUnitId,
    day,
    last_day: lastDay,
    asked_at: new Date(askedAt),
  }));
  const { rows } = await sql<{ readonly place: number }>`
    SELECT place FROM json_to_recordset(${JSON.stringify(shown)}::json) AS kept (
      place int, emr text, care_unit_id text, day date, last_day date, asked_at timestamptz)
    WHERE ${hasChanged(sql`interval '0'`)}`.execute(db);
  const places = new Set(rows.map(({ place }) => place));
  return days.filter((_, place) => places.has(place));
}

/**
 * A condition on `kept`: the schedules of the care unit have changed, an appointment of the day has, or an open write may have
 * taken time on it.
 *
 * @param settling an interval: how long after it was sent the EHR may still perform a write
 */
function hasChanged(settling: RawBuilder<unknown>) {
  return sql`(
    EXISTS (
      SELECT FROM timeslot_changes AS schedule
      WHERE schedule.emr = kept.emr AND schedule.care_unit_id = kept.care_unit_id AND schedule.changed_at >= kept.asked_at)
    OR EXISTS (
      SELECT FROM events
      WHERE events.emr = kept.emr AND events.care_unit_id = kept.care_unit_id AND ${isOfAppointment}
        AND events.occurred_at >= kept.asked_at AND (${isOn('data')} OR ${isOn(`data -> 'previous'`, true)}))
    OR EXISTS (
      SELECT FROM operations AS write
      WHERE write.emr = kept.emr AND write.care_unit_id = kept.care_unit_id
        AND write.takes_from IS NOT NULL AND write.sealed_plan IS NOT NULL
        AND write.takes_from <= kept.last_day AND write.takes_until >= kept.day
        AND kept.asked_at <= write.last_sent_at + ${settling}))`;
}

/**
 * A condition on `events` and `kept`: the appointment takes time on the day. Times have the offset of the care unit. One whose
 * time is not known may be on any day.
 *
 * @param isOptional whether the place may be missing altogether: then it takes no time
 */
function isOn(place: string, isOptional = false) {
  const at = sql.raw(place);
  const start = sql`left(${at} ->> 'start', 10)`;
  const isThere = sql`kept.last_day::text >= ${start} AND kept.day::text <= coalesce(left(${at} ->> 'end', 10), ${start})`;
  return isOptional ? sql`(${at} ? 'start' AND ${isThere})` : sql`(${at} ->> 'start' IS NULL OR (${isThere}))`;
}

/** Days of which everything wanted is kept, either as a whole or for each service. */
function daysOf(rows: readonly Row[], serviceIds: readonly string[] | undefined): ReadonlyMap<string, KeptDay> {
  const byDay = Map.groupBy(
    rows.filter((row) => row.healthcare_service_id !== null),
    ({ day }) => day,
  );
  const found = new Map<string, KeptDay>();
  for (const [day, kept] of byDay) {
    const whole = kept.find((row) => row.healthcare_service_id === everyService);
    const parts = whole ? [whole] : kept;
    if (!whole && parts.length < new Set(serviceIds).size) continue;
    const slots = parts
      .flatMap((row) => row.slots)
      .filter(([, , , serviceId]) => serviceIds === undefined || serviceIds.includes(serviceId));
    const askedAt = Math.min(...parts.map((row) => row.asked_at.getTime()));
    const lastDay =
      parts
        .map((row) => row.last_day)
        .sort()
        .at(-1) ?? day;
    found.set(day, { day, askedAt, lastDay, slots: parts.length > 1 ? slots.sort(byPosition) : slots });
  }
  return found;
}

/** The order of the port: start, resource, service. */
export function byPosition(one: KeptSlot, other: KeptSlot): number {
  return one[0] - other[0] || compare(one[2], other[2]) || compare(one[3], other[3]);
}

/** Order by code units. */
export function compare(one: string, other: string): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}

/** What an EHR has shown. */
interface Answer extends Whose {
  readonly days: readonly KeptDay[];
}

const keepInGroup = grouped<Answer, undefined>({
  begins: 'INSERT INTO kept_timeslots',
  // Answers of one care unit can have days and services in common.
  keyOf: ({ emr, careUnitId }) => JSON.stringify([emr, careUnitId]),
  most: 10,
  async run(db, answers) {
    await sql`
      INSERT INTO kept_timeslots AS kept (emr, care_unit_id, healthcare_service_id, day, source, last_day, asked_at, slots)
      SELECT emr, care_unit_id, healthcare_service_id, day, source, last_day, asked_at, slots
      FROM json_to_recordset(${JSON.stringify(answers.flatMap(rowsOf))}::json) AS asked (
        emr text, care_unit_id text, healthcare_service_id text, day date, source text, last_day date, asked_at timestamptz,
        slots json)
      ORDER BY emr, care_unit_id, healthcare_service_id, day
      ON CONFLICT (emr, care_unit_id, healthcare_service_id, day) DO UPDATE
        SET source = EXCLUDED.source, last_day = EXCLUDED.last_day, asked_at = EXCLUDED.asked_at, slots = EXCLUDED.slots
        WHERE kept.asked_at < EXCLUDED.asked_at`.execute(db);
    return [];
  },
});

function rowsOf({ emr, careUnitId, source, serviceIds, days }: Answer) {
  return (serviceIds ?? [everyService]).flatMap((serviceId) =>
    days.map(({ day, lastDay, askedAt, slots }) => ({
      emr,
      care_unit_id: careUnitId,
      healthcare_service_id: serviceId,
      day,
      source,
      last_day: lastDay,
      asked_at: new Date(askedAt),
      slots: serviceId === everyService ? slots : slots.filter((slot) => slot[3] === serviceId),
    })),
  );
}

/**
 * Keeps what the EHR has shown of these days, unless later answers are kept already. The answers of several EHRs at a time share
 * a statement.
 */
export async function keepDays(db: Db, whose: Whose, days: readonly KeptDay[]): Promise<void> {
  await keepInGroup(db, { ...whose, days });
}

/** Notes that a schedule of a care unit has changed, or may have, in the transaction that ends the write. */
export async function noteSlotsChanged(tx: Tx, emr: string, careUnitId: string): Promise<void> {
  await sql`
    INSERT INTO timeslot_changes AS known (emr, care_unit_id, changed_at) VALUES (${emr}, ${careUnitId}, clock_timestamp())
    ON CONFLICT (emr, care_unit_id) DO UPDATE SET changed_at = greatest(known.changed_at, EXCLUDED.changed_at)`.execute(
    tx,
  );
}

/** Seconds. No search takes older slots. */
export const longestAge = 3600;

/** Deletes what no search takes any more, at most `limit` days. Returns whether there may be more. */
export async function deleteOldTimeslots(db: Db, limit: number): Promise<boolean> {
  const { numAffectedRows } = await sql`
    DELETE FROM kept_timeslots WHERE (emr, care_unit_id, healthcare_service_id, day) IN (
      SELECT emr, care_unit_id, healthcare_service_id, day FROM kept_timeslots
      WHERE asked_at < now() - make_interval(secs => ${longestAge})
      ORDER BY asked_at LIMIT ${limit} FOR UPDATE SKIP LOCKED)`.execute(db);
  return Number(numAffectedRows) === limit;
}
