import { type Appointment, type AppointmentQuery, attendances } from '@crossward/connector-kit';
import { appointmentsFor, type Static, Type } from '@crossward/connector-kit/rest';
import type { At } from './clinic.ts';
import { listAll, readAll } from './records.ts';
import { datesOf, timeSchema } from './times.ts';

export const appointmentKind = {
  name: 'appointment',
  schema: Type.Object({
    id: Type.String(),
    patient: Type.String(),
    slot: Type.String(),
    practitioner: Type.String(),
    service: Type.String(),
    start: timeSchema,
    end: timeSchema,
    note: Type.Optional(Type.String()),
    status: Type.Enum(['booked', 'cancelled', 'deleted', ...attendances]),
    /** Which of two appointments of one slot took it first: the one with the lower number. */
    place: Type.Integer(),
    /** What those who booked and changed it have given as their reference, in this order. */
    references: Type.Array(Type.String()),
    /** Counts its changes. */
    version: Type.Integer(),
    created: timeSchema,
    changed: timeSchema,
  }),
};
export type EhrAppointment = Static<typeof appointmentKind.schema>;

export const searchPath = '/appointments/search';

export function readAppointments(at: At, ids: readonly string[]): Promise<readonly EhrAppointment[]> {
  return readAll(at, searchPath, { ...at.unit, ids }, appointmentKind);
}

export async function findAppointments(at: At, ids: readonly string[]): Promise<readonly Appointment[]> {
  return (await readAppointments(at, ids)).map((it) => appointment(at, it));
}

/** The EHR lists by patient and day only. */
export async function listAppointments(at: At, query: AppointmentQuery): Promise<readonly Appointment[]> {
  const { patientId, range } = query;
  const days = range && datesOf(at.careUnit, range);
  if (range && !days) return [];
  const wanted = { ...at.unit, patient: patientId, ...days };
  const found = await listAll(at, searchPath, wanted, appointmentKind);
  return appointmentsFor(
    found.map((it) => appointment(at, it)),
    query,
  );
}

export function appointment({ careUnit }: At, found: EhrAppointment): Appointment {
  return {
    id: found.id,
    state: takesSlot(found) ? 'booked' : 'cancelled',
    heldUntil: null,
    hasStarted: found.status === 'arrived' || found.status === 'completed',
    start: new Date(found.start),
    end: new Date(found.end),
    comment: found.note ?? null,
    patientId: found.patient,
    resourceId: found.practitioner,
    healthcareServiceId: found.service,
    careUnitId: careUnit.id,
    attendance: attendances.find((it) => it === found.status) ?? null,
  };
}

/** A booking that was withdrawn is deleted, and only the feed still shows it. */
export function takesSlot({ status }: Pick<EhrAppointment, 'status'>): boolean {
  return !['cancelled', 'no_show', 'deleted'].includes(status);
}
