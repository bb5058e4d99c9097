import { isDeepStrictEqual } from 'node:util';
import { sql } from 'kysely';
import type { Db } from '../db/kysely.ts';
import { inEffect } from '../ehr/pauses.ts';

/** An EHR, or one of its care units. */
export interface WorkPlace {
  readonly emr: string;
  /** `null`: the EHR with all of them. */
  readonly careUnit: string | null;
}

/** What a place still has to do with the gateway. */
export interface OpenWork extends WorkPlace {
  /** Writes that have not ended. */
  readonly writes: number;
  /** Confirmations that await a code. */
  readonly codes: number;
  /** Appointments in the EHR that take their time until a code is entered. */
  readonly holds: number;
}

/** Counts the open work of places. Those that have none are left out. */
export async function countOpenWork(db: Db, places: readonly WorkPlace[]): Promise<readonly OpenWork[]> {
  const { rows } = await sql<OpenWork>`
    SELECT place.emr, place.unit AS "careUnit",
      (SELECT count(*)::int FROM operations
        WHERE operations.emr = place.emr AND care_unit_id = coalesce(place.unit, care_unit_id)
          AND state <> 'done' AND sealed_plan IS NOT NULL) AS writes,
      (SELECT count(DISTINCT confirmation_id)::int FROM confirmation_items AS item
        WHERE item.emr = place.emr AND care_unit_id = coalesce(place.unit, care_unit_id)
          AND state IN ('pending', 'confirming')) AS codes,
      (SELECT count(*)::int FROM confirmation_items AS item
        WHERE item.emr = place.emr AND care_unit_id = coalesce(place.unit, care_unit_id)
          AND kind = 'booking' AND ehr_appointment_id IS NOT NULL
          AND state IN ('pending', 'confirming', 'expiring')) AS holds
    FROM unnest(${places.map(({ emr }) => emr)}::text[], ${places.map(({ careUnit }) => careUnit)}::text[])
      AS place (emr, unit)`.execute(db);
  return rows.filter(({ writes, codes, holds }) => writes + codes + holds > 0);
}

/** For how many seconds an EHR has been paused. `undefined`: it is not. */
export async function pausedSeconds(db: Db, emr: string): Promise<number | undefined> {
  const { rows } = await sql<{ seconds: number }>`
    SELECT extract(epoch FROM now() - paused_at)::float8 AS seconds FROM ehr_pauses
    WHERE emr = ${emr} AND ${inEffect}`.execute(db);
  return rows[0]?.seconds;
}

/** What decides where the work of an EHR is. */
interface Place {
  readonly id: string;
  readonly connector: string;
  readonly settings?: Readonly<Record<string, unknown>> | undefined;
  readonly care_units: readonly CareUnitPlace[];
}

interface CareUnitPlace {
  readonly id: string;
  readonly settings?: Readonly<Record<string, unknown>> | undefined;
}

/**
 * What an EHR no longer has after a change: itself, or care units. An id that now stands for another server or institution is
 * one of them: the new one would not know what is open in the former one, and a write would be made again there.
 *
 * @param next `undefined`: it is removed
 */
export function lostPlaces(former: Place, next: Place | undefined): WorkPlace[] {
  const emr = former.id;
  if (!next || !isDeepStrictEqual(serverOf(next), serverOf(former))) return [{ emr, careUnit: null }];
  const kept = new Map(next.care_units.map((careUnit) => [careUnit.id, placeOf(careUnit)]));
  return former.care_units.flatMap((careUnit) =>
    isDeepStrictEqual(kept.get(careUnit.id), placeOf(careUnit)) ? [] : { emr, careUnit: careUnit.id },
  );
}

/** The connector, and the address and database that its settings name. */
function serverOf({ connector, settings }: Place): readonly unknown[] {
  const { base_url, provider_url, url, database } = settings ?? {};
  return [connector, base_url, provider_url, url, database];
}

/** What names the institution in the EHR. Lists and mappings say what can be booked there. */
function placeOf({ settings }: CareUnitPlace): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(settings ?? {}).filter(([, value]) => typeof value !== 'object'));
}

/** Why a place cannot go, with the count. */
export function openWorkText(open: OpenWork): string {
  const { emr, careUnit } = open;
  const place = careUnit === null ? `EHR ${emr}:` : `EHR ${emr}: the care unit ${careUnit}`;
  return `${place} is neither removed nor moved to another server or institution while something is open there (${countsText(open)})`;
}

/** Why an EHR is not opened under an id with open work, with the count. */
export function sameEmrText(open: OpenWork): string {
  return `EHR ${open.emr}: something is open under this id (${countsText(open)}) and would go on there, and clients regain their grants; is it the same EHR?`;
}

function countsText({ writes, codes, holds }: OpenWork): string {
  const counts = [
    [writes, 'write', 'writes'],
    [codes, 'code', 'codes'],
    [holds, 'hold', 'holds'],
  ] as const;
  return counts.flatMap(([count, one, many]) => (count > 0 ? [`${count} ${count === 1 ? one : many}`] : [])).join(', ');
}
