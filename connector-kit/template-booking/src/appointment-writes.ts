import {
  type Appointment,
  type AppointmentChange,
  type AppointmentWrite,
  type CareUnit,
  ConnectorError,
} from '@crossward/connector-kit';
import { appointment, appointmentKind } from './appointment-reads.ts';
import type { EhrClient } from './ehr-client.ts';

/** One change per write, because the EHR has no transactions. It stores the operation id with the change. */
export async function changeAppointments(
  ehr: EhrClient,
  { operationId, careUnit, changes }: AppointmentWrite,
): Promise<readonly Appointment[]> {
  const [change, ...more] = changes;
  if (!change || more.length > 0) throw new ConnectorError('unsupported', 'The EHR makes one change at a time');
  const { path, body } = requestFor(change);
  const made = await ehr.post(path, { department: careUnit.id, ...body }, appointmentKind, operationId);
  return made.map(appointment);
}

export async function findOperation(
  ehr: EhrClient,
  careUnit: CareUnit,
  operationId: string,
): Promise<readonly Appointment[] | null> {
  const found = await ehr.post('/writes/search', { department: careUnit.id, write: operationId }, appointmentKind);
  return found.length === 0 ? null : found.map(appointment);
}

/** Fields that are `undefined` are left out of the JSON, and the EHR keeps their value. */
function requestFor(change: AppointmentChange): { path: string; body: object } {
  switch (change.kind) {
    case 'create': {
      if (change.holdUntil !== null) throw new ConnectorError('unsupported', 'The EHR cannot hold a time');
      const { patientId, resourceId, healthcareServiceId, start, end, comment } = change;
      return {
        path: '/appointments/book',
        body: {
          patient: patientId,
          practitioner: resourceId,
          service: healthcareServiceId,
          start,
          end,
          note: comment,
        },
      };
    }
    case 'update': {
      const { appointmentId, resourceId, time, comment } = change;
      return {
        path: '/appointments/change',
        body: { id: appointmentId, practitioner: resourceId, start: time?.start, end: time?.end, note: comment },
      };
    }
    case 'cancel':
      return { path: '/appointments/cancel', body: { id: change.appointmentId, note: change.comment } };
    default:
      throw new ConnectorError('unsupported', `The EHR does not support ${change.kind}`);
  }
}
