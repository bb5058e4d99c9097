import type { Appointment, AppointmentQuery } from '@crossward/connector-kit';
import { type Kysely, type SelectQueryBuilder, sql } from 'kysely';
import { currentState } from './appointment-state.ts';
import { type AppointmentRow, type SandboxTables, statement } from './tables.ts';

const dayMilliseconds = 24 * 60 * 60 * 1000;

interface OfCareUnit {
  readonly emr: string;
  readonly careUnitId: string;
  readonly ids: readonly string[];
}

const selectOfCareUnit = statement((db, { emr, careUnitId, ids }: OfCareUnit) =>
  selectAppointments(db, emr).where('care_unit_id', '=', careUnitId).where(sql<boolean>`id = ANY(${ids}::text[])`),
);

/** The appointments of the care unit with these ids, in any order. */
export async function findAppointments(
  db: Kysely<SandboxTables>,
  emr: string,
  careUnitId: string,
  ids: readonly string[],
): Promise<readonly Appointment[]> {
  const { rows } = await selectOfCareUnit(db, { emr, careUnitId, ids });
  return rows.map(appointment);
}

export async function listAppointments(
  db: Kysely<SandboxTables>,
  emr: string,
  query: AppointmentQuery,
): Promise<readonly Appointment[]> {
  let select = selectAppointments(db, emr).where('care_unit_id', '=', query.careUnit.id);
  if (query.patientId !== undefined) select = select.where('patient_id', '=', query.patientId);
  if (query.resourceId !== undefined) select = select.where('resource_id', '=', query.resourceId);
  if (query.range) {
    const { start, end } = query.range;
    select = select
      .where('starts_at', '<', end)
      .where('ends_at', '>', start)
      // No appointment is longer than a day (a table constraint), so the index scan can start one day earlier.
      .where('starts_at', '>', new Date(start.getTime() - dayMilliseconds));
  }
  if (query.states && query.states.length > 0) select = select.where(currentState, 'in', [...query.states]);
  if (query.after) {
    const { start, id } = query.after;
    select = select.where(sql<boolean>`(starts_at, id) > (${start}, ${id})`);
  }
  const rows = await select.orderBy('starts_at').orderBy('id').limit(query.limit).execute();
  return rows.map(appointment);
}

/** The appointments with these ids, in the order of the ids. */
export async function appointmentsById(
  db: Kysely<SandboxTables>,
  emr: string,
  ids: readonly string[],
): Promise<Appointment[]> {
  const rows = await selectAppointments(db, emr)
    .where('id', 'in', [...ids])
    .execute();
  const byId = new Map(rows.map((row) => [row.id, appointment(row)]));
  return ids.flatMap((id) => byId.get(id) ?? []);
}

type SelectedRow = Omit<AppointmentRow, 'emr' | 'created_at'>;

function selectAppointments(
  db: Kysely<SandboxTables>,
  emr: string,
): SelectQueryBuilder<SandboxTables, 'sandbox.appointments', SelectedRow> {
  return db
    .selectFrom('sandbox.appointments')
    .select([
      'id',
      'care_unit_id',
      'patient_id',
      'resource_id',
      'healthcare_service_id',
      'starts_at',
      'ends_at',
      'held_until',
      'comment',
    ])
    .select(currentState.as('state'))
    .where('emr', '=', emr);
}

function appointment(row: SelectedRow): Appointment {
  return {
    id: row.id,
    state: row.state,
    heldUntil: row.state === 'held' ? row.held_until : null,
    start: row.starts_at,
    end: row.ends_at,
    comment: row.comment,
    patientId: row.patient_id,
    resourceId: row.resource_id,
    healthcareServiceId: row.healthcare_service_id,
    careUnitId: row.care_unit_id,
  };
}
