import type { CareUnit } from '@crossward/connector-kit';
import type { Kysely } from 'kysely';
import type { Directory } from './directory.ts';
import type { SandboxSchedule } from './schedule-reads.ts';
import type { SandboxTables } from './tables.ts';

/** Working hours of every resource: Monday to Friday, 08:00–12:00 and 13:00–16:00 local time. */
const workingDay = [
  { part: 'morning', from: '08:00:00', to: '12:00:00' },
  { part: 'afternoon', from: '13:00:00', to: '16:00:00' },
];
const firstMonday = '2024-01-01';
const everyWeekday = 'FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR';

export interface OpeningHours extends SandboxSchedule {
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
        endsAt: null,
        exceptions: [],
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
