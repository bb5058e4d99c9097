import type { Appointment } from '@crossward/connector-kit';
import { sql } from 'kysely';
import type { Db, Tx } from '../db/kysely.ts';
import type { EhrConnection } from '../ehr/connection.ts';
import type { AppointmentEventData } from '../events/new-event.ts';
import type { KeyRing } from '../secrets/key-ring.ts';
import { patientBehind } from '../secrets/patient-tokens.ts';
import { toldState } from './ehr-changes/told-state.ts';
import type { RequestContext } from './request-context.ts';

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

/** What an event keeps of its appointment beside ids and times. */
type Kept = Pick<Appointment, 'patientId' | 'comment' | 'resourceName'>;

function contextOf(emr: string, id: string): string {
  return `appointment ${id} of ${emr}`;
}

/** Encrypts what an event keeps. `undefined`: the patient is not known. */
export function sealForLater(keys: KeyRing, emr: string, id: string, appointment: Kept): Buffer | undefined {
  const { patientId, comment, resourceName } = appointment;
  if (patientId === '') return undefined;
  return keys.seal('event', JSON.stringify({ patientId, comment, resourceName } satisfies Kept), contextOf(emr, id));
}

function keptIn(keys: KeyRing, emr: string, id: string, sealed: Buffer | null): Kept | undefined {
  const text = sealed && keys.open('event', sealed, contextOf(emr, id));
  return text ? (JSON.parse(text) as Kept) : undefined;
}

/**
 * Appointments that the EHR has no more, by the callers' ids: cancelled, with what the events of the care unit say. Only those
 * that the gateway has booked, changed or cancelled have such events, and for as long as these are kept.
 */
export async function rememberedAppointments(
  { services: { db, keys }, ehr, careUnit }: RequestContext,
  ids: readonly string[],
): Promise<ReadonlyMap<string, KnownAppointment>> {
  if (ids.length === 0) return new Map();
  const rows = await db
    .selectFrom('events')
    .select(['subject', 'data', 'sealed_appointment'])
    .where('emr', '=', ehr.id)
    .where('care_unit_id', '=', careUnit.id)
    .where('subject', 'in', [...ids])
    .where('type', 'like', 'appointment.%')
    .orderBy('sequence', 'desc')
    .execute();
  const found = ids.flatMap((id) => {
    const events = rows.filter(({ subject }) => subject === id);
    const told = toldState(events.map(({ data }) => data as unknown as AppointmentEventData));
    const [kept] = events.flatMap((it) => keptIn(keys, ehr.id, id, it.sealed_appointment) ?? []);
    const { start, end, resourceId, healthcareServiceId, attendance } = told ?? {};
    if (!kept || !start || end === undefined || resourceId === undefined || healthcareServiceId === undefined)
      return [];
    const place = { start, end, resourceId, healthcareServiceId, careUnitId: careUnit.id };
    return [[id, { id, state: 'cancelled', heldUntil: null, ...place, ...kept, attendance }] as const];
  });
  return new Map(found);
}

/** The events that keep something of a patient. What is encrypted names nobody to the database, so all of the EHR's are read. */
export async function eventsKeepingOf(tx: Tx, keys: KeyRing, emr: string, patientId: string): Promise<string[]> {
  const patient = patientBehind(keys, emr, patientId);
  const rows = await tx
    .selectFrom('events')
    .select(['id', 'subject', 'sealed_appointment'])
    .where('emr', '=', emr)
    .where('sealed_appointment', 'is not', null)
    .execute();
  const isOfPatient = (kept: Kept | undefined) => kept && patientBehind(keys, emr, kept.patientId) === patient;
  return rows
    .filter((it) => isOfPatient(keptIn(keys, emr, it.subject ?? '', it.sealed_appointment)))
    .map(({ id }) => id);
}

/** Erases what these events keep, and what clients call the appointments. The events stay, with ids and times. */
export async function eraseKept(tx: Tx, eventIds: readonly string[]): Promise<void> {
  await sql`
    DELETE FROM appointment_identifiers USING events WHERE events.id = ANY(${eventIds}::uuid[])
      AND events.emr = appointment_identifiers.emr AND events.subject = appointment_id`.execute(tx);
  await sql`UPDATE events SET sealed_appointment = NULL WHERE id = ANY(${eventIds}::uuid[])`.execute(tx);
}
