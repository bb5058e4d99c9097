import type { Appointment } from '@crossward/connector-kit';
import type { Db } from '../../db/kysely.ts';
import type { EhrConnection } from '../../ehr/connection.ts';

/** An appointment with what only the gateway knows of it. */
export interface KnownAppointment extends Appointment {
  /** The former id by which callers know it, if a move has given it a new one. */
  readonly supersedesId?: string | undefined;
}

/** Adds the former ids. Only EHRs whose moves give new ids need the query. */
export async function withFormerIds(
  db: Db,
  ehr: EhrConnection,
  appointments: readonly Appointment[],
): Promise<readonly KnownAppointment[]> {
  const { rebooks, movesToNewId } = ehr.capabilities;
  if (!(rebooks || movesToNewId) || appointments.length === 0) return appointments;
  const rows = await db
    .selectFrom('moved_appointments')
    .select(['appointment_id', 'supersedes_id'])
    .where('emr', '=', ehr.id)
    .where(
      'appointment_id',
      'in',
      appointments.map(({ id }) => id),
    )
    .execute();
  const formerIds = new Map(rows.map((row) => [row.appointment_id, row.supersedes_id]));
  return appointments.map((appointment) => ({ ...appointment, supersedesId: formerIds.get(appointment.id) }));
}
