import type { Bench } from '../measure/bench.ts';
import { compare } from '../measure/compare.ts';
import { startGateway } from '../measure/gateway.ts';
import { reads } from '../measure/load.ts';
import { execute, type Postgres } from '../measure/postgres.ts';
import { appointments, careUnit, variantsOf } from './bookings.ts';
import { durationResult } from './pair.ts';

const [many, few] = [2_000_000, 1_000];

/** Time slots and a patient's appointments, in a care unit with a long history and in one with none or a short one. */
export const history: Bench = {
  name: 'history',
  async run(postgres) {
    const [withMany, withNone] = [await createDatabase(postgres), await createDatabase(postgres)];
    await addPast(withMany, many);
    const [ours, yardstick] = [
      await startGateway({ folder: postgres.folder, databaseUrl: withMany }),
      await startGateway({ folder: postgres.folder, databaseUrl: withNone }),
    ];
    const against = (paths: readonly string[]) => compare(postgres, reads(ours, ...paths), reads(yardstick, ...paths));
    try {
      const timeSlots = await against(
        variantsOf((range) => `${careUnit}/timeslots?${range}&resource_id=r-1&limit=500`, 1, 15),
      );
      await addPast(withNone, few);
      const ofPatient = await against(variantsOf((range) => `${appointments}?${range}&patient_id=p-3`, -30, 30));
      return [
        durationResult(`time slots with ${many.toLocaleString('en')} past appointments`, 'with none', 1.05, timeSlots),
        durationResult(
          `a patient's appointments among ${many.toLocaleString('en')}`,
          `among ${few.toLocaleString('en')}`,
          1.1,
          ofPatient,
        ),
      ];
    } finally {
      await Promise.all([ours.stop(), yardstick.stop()]);
    }
  },
};

/** A database in which a gateway has created its tables. */
async function createDatabase(postgres: Postgres): Promise<string> {
  const databaseUrl = await postgres.createDatabase();
  await (await startGateway({ folder: postgres.folder, databaseUrl })).stop();
  return databaseUrl;
}

/**
 * Adds past appointments of many patients, and twenty of the patient `p-3`. Replaces the exclusion constraint by an index
 * alike, which serves reads as well: checking the constraint for each row would take minutes.
 */
async function addPast(url: string, count: number): Promise<void> {
  await execute(
    url,
    `DO $$
     DECLARE exclusion record;
     BEGIN
       SELECT conname AS name, pg_get_indexdef(conindid) AS index INTO STRICT exclusion
       FROM pg_constraint WHERE conrelid = 'sandbox.appointments'::regclass AND contype = 'x';
       EXECUTE 'ALTER TABLE sandbox.appointments DROP CONSTRAINT ' || exclusion.name;
       ${insert(`'past-' || n, 'patient-' || n % 50000, 'r-' || 1 + n % 4`, "(n / 4) * interval '15 minutes'", count)};
       ${insert(`'of-p-3-' || n, 'p-3', 'r-5'`, "n * interval '1 day'", 20)};
       EXECUTE exclusion.index;
     END $$`,
    'VACUUM ANALYZE sandbox.appointments',
  );
}

function insert(idPatientAndResource: string, beforeMidnight: string, count: number): string {
  return `
    INSERT INTO sandbox.appointments
      (id, patient_id, resource_id, emr, care_unit_id, healthcare_service_id, starts_at, ends_at, state)
    SELECT ${idPatientAndResource}, 'sandbox-no', 'oslo-sentrum', 'consultation', at, at + interval '15 minutes', 'booked'
    FROM generate_series(1, ${count}) n,
      LATERAL (SELECT date_trunc('day', now()) - interval '1 day' - ${beforeMidnight} AS at) past`;
}
