import type { ConnectorOperation } from '../connector.ts';

const names: Record<ConnectorOperation, true> = {
  findPatient: true,
  findResource: true,
  listResources: true,
  listHealthcareServices: true,
  listTimeSlots: true,
  findAppointments: true,
  listAppointments: true,
  changeAppointments: true,
  findOperation: true,
  requestBooking: true,
  requestCancellation: true,
  resendCode: true,
  confirmCode: true,
};

/** Every operation of the port. */
export const operations = Object.keys(names) as readonly ConnectorOperation[];
