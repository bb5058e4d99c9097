import type { Appointment, AppointmentQuery } from '@crossward/connector-kit';
import type { Statement } from '@crossward/connector-kit/database';
import { type Kysely, type SelectQueryBuilder, sql } from 'kysely';
import { currentState, hasStarted } from './appointment-state.ts';
import { type AppointmentRow, type SandboxTables, statement } from './tables.ts';

const dayMilliseconds = 24 * 60 * 60 * 1000;

interface WithIds {
  readonly emr: string;
  readonly ids: readonly string[];
}

const selectWithIds = statement((db, { emr, ids }: WithIds) =>
  selectAppointments(db, emr).where(sql<boolean>`id = ANY(${ids}::text[])`),
);

/** The appointments with these ids, of any care unit and in any order. */
export async function findAppointments(
  db: Kysely<SandboxTables>,
  emr: string,
  ids: readonly string[],
): Promise<readonly Appointment[]> {
  const { rows } = await selectWithIds(db, { emr, ids });
  return rows.map(appointment);
}

export async function listAppointments(
  db: Kysely<SandboxTables>,
  emr: string,
  query: AppointmentQuery,
): Promise<readonly Appointment[]> {
  const { careUnit, patientId, resourceId, range, states = [], after, limit } = query;
  const list = listWith({
    patient: patientId !== undefined,
    resource: resourceId !== undefined,
    range: range !== undefined,
    states: states.length > 0,
    after: after !== undefined,
  });
  const { rows } = await list(db, {
    emr,
    careUnitId: careUnit.id,
    patientId,
    resourceId,
    start: range?.start,
    end: range?.end,
    dayBefore: range && new Date(range.start.getTime() - dayMilliseconds),
    states,
    afterStart: after?.start,
    afterId: after?.id,
    limit,
  });
  return rows.map(appointment);
}

/** The conditions that a list has. */
type Conditions = Readonly<Record<'patient' | 'resource' | 'range' | 'states' | 'after', boolean>>;

interface ListInput {
  readonly emr: string;
  readonly careUnitId: string;
  readonly patientId: string | undefined;
  readonly resourceId: string | undefined;
  readonly start: Date | undefined;
  readonly end: Date | undefined;
  /** No appointment is longer than a day (a table constraint), so the index scan can start one day earlier. */
  readonly dayBefore: Date | undefined;
  readonly states: readonly string[];
  readonly afterStart: Date | undefined;
  readonly afterId: string | undefined;
  readonly limit: number;
}

const lists = new Map<string, Statement<ListInput, SelectedRow>>();

/** A statement for each combination of conditions, so that each can use the index that fits. */
function listWith(conditions: Conditions): Statement<ListInput, SelectedRow> {
  const key = JSON.stringify(conditions);
  const known = lists.get(key);
  if (known) return known;
  const made = statement((db, input: ListInput) => {
    const { emr, careUnitId, patientId, resourceId, start, end, dayBefore, states, afterStart, afterId, limit } = input;
    return selectAppointments(db, emr)
      .where('care_unit_id', '=', careUnitId)
      .$if(conditions.patient, (select) => select.where(sql<boolean>`patient_id = ${patientId}`))
      .$if(conditions.resource, (select) => select.where(sql<boolean>`resource_id = ${resourceId}`))
      .$if(conditions.range, (select) =>
        select.where(sql<boolean>`starts_at < ${end} AND ends_at > ${start} AND starts_at > ${dayBefore}`),
      )
      .$if(conditions.states, (select) => select.where(sql<boolean>`${currentState} = ANY(${states}::text[])`))
      .$if(conditions.after, (select) => select.where(sql<boolean>`(starts_at, id) > (${afterStart}, ${afterId})`))
      .orderBy('starts_at')
      .orderBy('id')
      .limit(limit);
  });
  lists.set(key, made);
  return made;
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

type SelectedRow = Omit<AppointmentRow, 'emr' | 'created_at' | 'changed_by' | 'changed_at'>;

export function selectAppointments(
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
      'attendance',
    ])
    .select(currentState.as('state'))
    .where('emr', '=', emr);
}

export function appointment(row: SelectedRow): Appointment {
  return {
    id: row.id,
    state: row.state,
    heldUntil: row.state === 'held' ? row.held_until : null,
    hasStarted: hasStarted(row),
    start: row.starts_at,
    end: row.ends_at,
    comment: row.comment,
    patientId: row.patient_id,
    resourceId: row.resource_id,
    healthcareServiceId: row.healthcare_service_id,
    careUnitId: row.care_unit_id,
    attendance: row.attendance,
  };
}
