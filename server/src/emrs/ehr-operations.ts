import type { ConnectorOperation } from '@crossward/connector-kit';
import type { EhrConnection } from '../ehr/connection.ts';

/** What a caller can do in an EHR, and what its connector has to offer for it. */
export const ehrOperations = {
  get_patient: ['findPatient'],
  list_resources: ['listResources'],
  get_resource: ['findResource'],
  list_healthcare_services: ['listHealthcareServices'],
  list_timeslots: ['listTimeSlots'],
  list_appointments: ['listAppointments'],
  get_appointment: ['findAppointment'],
  create_appointment: ['findPatient', 'findResource', 'listHealthcareServices', 'createAppointment'],
  update_appointment: ['findAppointment', 'updateAppointment'],
  cancel_appointment: ['findAppointment', 'cancelAppointment'],
} as const satisfies Record<string, readonly ConnectorOperation[]>;
export type EhrOperation = keyof typeof ehrOperations;

export function operationsOf(ehr: EhrConnection): EhrOperation[] {
  return (Object.keys(ehrOperations) as EhrOperation[]).filter((name) => ehrOperations[name].every(ehr.offers));
}
