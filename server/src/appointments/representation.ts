import type { Appointment, AppointmentState } from '@crossward/connector-kit';
import type { CareUnitConnection, EhrConnection } from '../ehr/connection.ts';
import { formatIdentifier } from '../identifiers/index.ts';
import { formatInstant } from '../time/date-times.ts';
import type { AppointmentBody, AppointmentStatus } from './contract.ts';

const statusOf: Record<AppointmentState, AppointmentStatus> = {
  booked: 'booked',
  held: 'awaiting_confirmation',
  pending: 'awaiting_confirmation',
  cancelled: 'cancelled',
};

/** The states of an EHR that a caller sees as this status. */
export function statesOf(status: AppointmentStatus): AppointmentState[] {
  return (Object.keys(statusOf) as AppointmentState[]).filter((state) => statusOf[state] === status);
}

export function appointmentBody(
  appointment: Appointment,
  ehr: EhrConnection,
  careUnit: CareUnitConnection,
): AppointmentBody {
  return {
    id: appointment.id,
    status: statusOf[appointment.state],
    start: formatInstant(appointment.start, careUnit.timeZone),
    end: formatInstant(appointment.end, careUnit.timeZone),
    comment: appointment.comment,
    patient_id: formatIdentifier({ type: 'emr_id', value: appointment.patientId }),
    resource_id: formatIdentifier({ type: 'emr_id', value: appointment.resourceId }),
    healthcare_service_id: appointment.healthcareServiceId,
    emr: ehr.id,
    care_unit_id: careUnit.id,
    confirmation: null,
    replaces_id: null,
    supersedes_id: null,
  };
}
