import type { Database } from '../../server/src/db/database.ts';
import type { Ehr, EhrAppointment } from './ehr.ts';

/** Direct access to a sandbox through its tables. */
export function sandboxEhr(emr: string, { pool }: Database): Ehr {
  async function sql<Row>(text: string, values: readonly unknown[] = []): Promise<Row[]> {
    const client = await pool.connect();
    try {
      return (await client.query<Row>(text, [emr, ...values])).rows;
    } finally {
      client.release();
    }
  }
  return {
    appointments: () =>
      sql<EhrAppointment>(
        `SELECT id, patient_id AS "patientId", resource_id AS "resourceId", state,
           held_until AS "heldUntil", starts_at AS start, ends_at AS "end"
         FROM sandbox.appointments WHERE emr = $1`,
      ),
    everything: () =>
      Promise.all(
        ['appointments', 'operations', 'medical_notes'].map((table) =>
          sql(`SELECT to_jsonb(t) AS row FROM sandbox.${table} AS t WHERE emr = $1 ORDER BY to_jsonb(t)::text`),
        ),
      ),
    async moveBack(appointmentId, days) {
      await sql(
        `UPDATE sandbox.appointments
         SET starts_at = starts_at - make_interval(days => $3), ends_at = ends_at - make_interval(days => $3)
         WHERE emr = $1 AND id = $2`,
        [appointmentId, days],
      );
    },
    async comment(appointmentId, comment) {
      await sql('UPDATE sandbox.appointments SET comment = $3 WHERE emr = $1 AND id = $2', [appointmentId, comment]);
    },
    async cancel(appointmentId) {
      await sql(
        `UPDATE sandbox.appointments SET state = 'cancelled', held_until = NULL, attendance = NULL WHERE emr = $1 AND id = $2`,
        [appointmentId],
      );
    },
    async attend(appointmentId, attendance) {
      await sql(
        `UPDATE sandbox.appointments
         SET attendance = $3, state = CASE $3 WHEN 'no_show' THEN 'cancelled' ELSE 'booked' END
         WHERE emr = $1 AND id = $2`,
        [appointmentId, attendance],
      );
    },
    async hold(appointmentId, until) {
      await sql(`UPDATE sandbox.appointments SET state = 'held', held_until = $3 WHERE emr = $1 AND id = $2`, [
        appointmentId,
        until,
      ]);
    },
    async openAroundTheClock(room, slotMinutes) {
      // Two schedules, because one cannot end at midnight of the day on which it starts.
      for (const [part, start, end] of [
        ['day', `current_date + time '00:00'`, `current_date + time '23:45'`],
        ['midnight', `current_date + time '23:45'`, `current_date + 1 + time '00:00'`],
      ] as const) {
        await sql(
          `INSERT INTO sandbox.schedules
           SELECT DISTINCT emr, $4, care_unit_id, resource_id, '{consultation}'::text[],
             to_char(${start}, 'YYYY-MM-DD"T"HH24:MI:SS'), to_char(${end}, 'YYYY-MM-DD"T"HH24:MI:SS'), $3::int, 'FREQ=DAILY'
           FROM sandbox.schedules WHERE emr = $1 AND resource_id = $2`,
          [room, slotMinutes, part],
        );
      }
    },
  };
}
