import type { CareUnit, Connector, TimeSlot } from '@crossward/connector-kit';
import { type ClockChange, cutOffPool, plainHttp, type Subject } from '@crossward/connector-kit/conformance';
import type { PostgresPool } from 'kysely';
import { Temporal } from 'temporal-polyfill';
import { nextClockChange } from '../../../test/requests/clock-change-days.ts';
import { sandboxConnector } from '../src/connector.ts';

const emr = 'conformance';
const careUnit: CareUnit = { id: 'north', timeZone: 'Europe/Stockholm' };
const otherCareUnit: CareUnit = { id: 'south', timeZone: 'Europe/Stockholm' };

/** Has night slots, because clock changes happen at night. */
const nightWorker = 'r-2';

export function open(database: PostgresPool): Promise<Connector> {
  return sandboxConnector.open({
    emr,
    settings: { country: 'SE' },
    careUnits: [careUnit, otherCareUnit],
    http: plainHttp(),
    now: () => new Date(),
    database,
  });
}

/** A Swedish sandbox. The database must have the sandbox tables. */
export async function sandboxSubject(name: string, database: PostgresPool): Promise<Subject> {
  let pool = cutOffPool(database);
  let connector = await open(pool);
  const sql = async (text: string, values: readonly unknown[]) => {
    const client = await database.connect();
    await client.query(text, values).finally(() => client.release());
  };
  await sql(
    `INSERT INTO sandbox.schedules VALUES ($1, 'nights', $2, $3, '{consultation}', '2024-01-01T23:00:00',
      '2024-01-02T06:00:00', 30, 'FREQ=DAILY') ON CONFLICT DO NOTHING`,
    [emr, careUnit.id, nightWorker],
  );
  await sql(
    `INSERT INTO sandbox.patients
      (emr, id, identifier_type, identifier_value, given_name, family_name, birth_date, phone, operation_id)
      VALUES ($1, 'p-written', 'se_personal_number', '640823-3234', 'Skriven', 'Provtext', '1964-08-23',
      '+46 (0)70-174 06 99 (bara SMS)', gen_random_uuid()),
      ($1, 'p-twin-1', 'se_personal_number', '189001059840', 'Ett', 'Tvilling', '1890-01-05', NULL, gen_random_uuid()),
      ($1, 'p-twin-2', 'se_personal_number', '18900105-9840', 'Två', 'Tvilling', '1890-01-05', NULL, gen_random_uuid())
      ON CONFLICT DO NOTHING`,
    [emr],
  );
  return {
    name,
    get connector() {
      return connector;
    },
    careUnit,
    otherCareUnit,
    facts: {
      patient: [
        { type: 'emr_id', value: 'p-1' },
        { type: 'se_personal_number', value: '191212121212' },
      ],
      numbersAsWritten: [{ type: 'se_personal_number', value: '196408233234' }],
      phonesAsWritten: { 'p-written': '+46701740699' },
      otherPatientId: 'p-3',
      unknownPatients: [
        { type: 'emr_id', value: 'p-21' },
        { type: 'se_personal_number', value: '197010632392' },
      ],
      ambiguousPatients: [{ type: 'se_personal_number', value: '189001059840' }],
      newPatients: [3, 4, 5, 6].map((digit) => ({ type: 'se_personal_number', value: `19701063239${digit}` })),
      resource: [
        { type: 'emr_id', value: 'r-1' },
        { type: 'hsa_id', value: 'SE0000000000-1001' },
        { type: 'se_personal_number', value: '196408233234' },
      ],
      healthcareServiceId: 'consultation',
      foreignResourceId: 'r-6',
    },
    second: await open(database),
    async restart() {
      pool.cut();
      pool = cutOffPool(database);
      connector = await open(pool);
    },
    directChanges: {
      cancel: ({ id }) =>
        sql(`UPDATE sandbox.appointments SET state = 'cancelled', attendance = NULL WHERE emr = $1 AND id = $2`, [
          emr,
          id,
        ]),
      attend: ({ id }, attendance) =>
        sql(
          `UPDATE sandbox.appointments SET attendance = $3, state = CASE $3 WHEN 'no_show' THEN 'cancelled' ELSE 'booked' END
           WHERE emr = $1 AND id = $2`,
          [emr, id, attendance],
        ),
      comment: ({ id }, text) =>
        sql('UPDATE sandbox.appointments SET comment = $3 WHERE emr = $1 AND id = $2', [emr, id, text]),
      move: ({ id }, { start, end }) =>
        sql('UPDATE sandbox.appointments SET starts_at = $3, ends_at = $4 WHERE emr = $1 AND id = $2', [
          emr,
          id,
          start,
          end,
        ]),
      take: (slot) => take(sql, slot),
      changeNote: ({ id }, text) =>
        sql('UPDATE sandbox.medical_notes SET text = $3 WHERE emr = $1 AND id = $2', [emr, id, text]),
      retractNote: ({ id }) =>
        sql('UPDATE sandbox.medical_notes SET is_entered_in_error = true WHERE emr = $1 AND id = $2', [emr, id]),
      changeDocument: ({ id }, title) =>
        sql('UPDATE sandbox.documents SET title = $3, changed_at = now() WHERE emr = $1 AND id = $2', [emr, id, title]),
      retractDocument: ({ id }) =>
        sql('UPDATE sandbox.documents SET is_entered_in_error = true WHERE emr = $1 AND id = $2', [emr, id]),
    },
    timedChanges: {
      commentAtOnce: (appointments, text) =>
        sql('UPDATE sandbox.appointments SET comment = $3 WHERE emr = $1 AND id = ANY ($2)', [
          emr,
          appointments.map(({ id }) => id),
          text,
        ]),
    },
    clockChanges: (['spring', 'autumn'] as const).flatMap((season) => [night(season), workingDays(season)]),
  };
}

async function take(
  sql: (text: string, values: readonly unknown[]) => Promise<void>,
  { resourceId, healthcareServiceId, start, end }: TimeSlot,
): Promise<() => Promise<void>> {
  const id = `taken-${start.getTime()}`;
  await sql(
    `INSERT INTO sandbox.appointments
      (emr, id, care_unit_id, patient_id, resource_id, healthcare_service_id, starts_at, ends_at, state)
      VALUES ($1, $2, $3, 'p-4', $4, $5, $6, $7, 'booked')`,
    [emr, id, careUnit.id, resourceId, healthcareServiceId, start, end],
  );
  return () => sql('DELETE FROM sandbox.appointments WHERE emr = $1 AND id = $2', [emr, id]);
}

/** Half-hour slots in elapsed time from 23:00 to 06:00, across midnight and the clock change. */
function night(season: 'spring' | 'autumn'): ClockChange {
  const { date, instant } = nextClockChange(careUnit.timeZone, season);
  const start = at(date.subtract({ days: 1 }), '23:00');
  const end = at(date, '06:00');
  return {
    name: `the night in ${season}`,
    resourceId: nightWorker,
    healthcareServiceId: 'consultation',
    start,
    end,
    at: new Date(instant.epochMilliseconds),
    slotStarts: halfHours(start, end),
  };
}

/** Clock changes are on Sundays; on Friday and Monday, working hours follow local time. */
function workingDays(season: 'spring' | 'autumn'): ClockChange {
  const { date, instant } = nextClockChange(careUnit.timeZone, season);
  const days = [date.subtract({ days: 2 }), date.add({ days: 1 })] as const;
  return {
    name: `the working days in ${season}`,
    resourceId: 'r-1',
    healthcareServiceId: 'consultation',
    start: at(days[0], '00:00'),
    end: at(days[1], '23:00'),
    at: new Date(instant.epochMilliseconds),
    slotStarts: days.flatMap((day) => [
      ...halfHours(at(day, '08:00'), at(day, '12:00')),
      ...halfHours(at(day, '13:00'), at(day, '16:00')),
    ]),
  };
}

function at(date: Temporal.PlainDate, time: string): Date {
  const { timeZone } = careUnit;
  return new Date(date.toZonedDateTime({ timeZone, plainTime: Temporal.PlainTime.from(time) }).epochMilliseconds);
}

function halfHours(start: Date, end: Date): Date[] {
  const step = 30 * 60_000;
  const count = (end.getTime() - start.getTime()) / step;
  return Array.from({ length: count }, (_, index) => new Date(start.getTime() + index * step));
}
