import type { Appointment, AppointmentPosition, AppointmentQuery, CareUnit } from '@crossward/connector-kit';
import { type EhrClient, isText, isTextOrNull, isTime, type Kind } from './ehr-client.ts';
import { compareKeys } from './order.ts';

export interface EhrAppointment {
  readonly id: string;
  readonly department: string;
  readonly patient: string;
  readonly practitioner: string;
  readonly service: string;
  readonly start: string;
  readonly end: string;
  readonly note: string | null;
  readonly status: 'booked' | 'arrived' | 'cancelled';
}

export const appointmentKind: Kind<EhrAppointment> = {
  name: 'appointment',
  fields: {
    id: isText,
    department: isText,
    patient: isText,
    practitioner: isText,
    service: isText,
    start: isTime,
    end: isTime,
    note: isTextOrNull,
    status: (it) => it === 'booked' || it === 'arrived' || it === 'cancelled',
  },
};

export async function findAppointments(
  ehr: EhrClient,
  careUnit: CareUnit,
  ids: readonly string[],
): Promise<readonly Appointment[]> {
  const found = await ehr.post('/appointments/search', { department: careUnit.id, ids }, appointmentKind);
  return found.map(appointment);
}

export async function listAppointments(ehr: EhrClient, query: AppointmentQuery): Promise<readonly Appointment[]> {
  const { careUnit, patientId, resourceId, range, states = [], after, limit } = query;
  const wanted = {
    department: careUnit.id,
    patient: patientId,
    practitioner: resourceId,
    from: range?.start,
    to: range?.end,
  };
  const found = await ehr.list('/appointments/search', wanted, appointmentKind);
  return found
    .map(appointment)
    .filter(({ state }) => states.length === 0 || states.includes(state))
    .filter((it) => after === undefined || compareKeys(keys(it), keys(after)) > 0)
    .sort((a, b) => compareKeys(keys(a), keys(b)))
    .slice(0, limit);
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

function keys({ start, id }: AppointmentPosition) {
  return [start.getTime(), id];
}
