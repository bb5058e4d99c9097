import type { Appointment, AppointmentQuery, CareUnit } from '@crossward/connector-kit';
import { appointmentsFor } from '@crossward/connector-kit/rest';
import { type EhrClient, isListOfTexts, isText, isTextOrNull, type Kind } from './ehr-client.ts';
import { datesOf, isTime } from './times.ts';

export interface EhrAppointment {
  readonly id: string;
  readonly department: string;
  readonly patient: string;
  readonly slot: string;
  readonly practitioner: string;
  readonly service: string;
  readonly start: string;
  readonly end: string;
  readonly note: string | null;
  readonly status: 'booked' | 'arrived' | 'cancelled';
  /** Which of two appointments of one slot took it first: the one with the lower number. */
  readonly place: number;
  /** What those who booked and changed it have given as their reference, in this order. */
  readonly references: readonly string[];
}

export const appointmentKind: Kind<EhrAppointment> = {
  name: 'appointment',
  fields: {
    id: isText,
    department: isText,
    patient: isText,
    slot: isText,
    practitioner: isText,
    service: isText,
    start: isTime,
    end: isTime,
    note: isTextOrNull,
    status: (it) => it === 'booked' || it === 'arrived' || it === 'cancelled',
    place: Number.isInteger,
    references: isListOfTexts,
  },
};

export const searchPath = '/appointments/search';

export function readAppointments(
  client: EhrClient,
  careUnit: CareUnit,
  ids: readonly string[],
): Promise<readonly EhrAppointment[]> {
  return client.read(searchPath, { department: careUnit.id, ids }, appointmentKind);
}

export async function findAppointments(
  client: EhrClient,
  careUnit: CareUnit,
  ids: readonly string[],
): Promise<readonly Appointment[]> {
  return (await readAppointments(client, careUnit, ids)).map(appointment);
}

/** The EHR lists by patient and day only. */
export async function listAppointments(client: EhrClient, query: AppointmentQuery): Promise<readonly Appointment[]> {
  const { careUnit, patientId, range } = query;
  const days = range && datesOf(careUnit, range);
  if (range && !days) return [];
  const wanted = { department: careUnit.id, patient: patientId, ...days };
  const found = await client.list(searchPath, wanted, appointmentKind);
  return appointmentsFor(found.map(appointment), query);
}

export function appointment(found: EhrAppointment): Appointment {
  return {
    id: found.id,
    state: found.status === 'cancelled' ? 'cancelled' : 'booked',
    heldUntil: null,
    hasStarted: found.status === 'arrived',
    start: new Date(found.start),
    end: new Date(found.end),
    comment: found.note,
    patientId: found.patient,
    resourceId: found.practitioner,
    healthcareServiceId: found.service,
    careUnitId: found.department,
    attendance: found.status === 'arrived' ? 'arrived' : null,
  };
}
