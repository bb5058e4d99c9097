import type { ConnectorOperation } from './connector.ts';

const names: Record<ConnectorOperation, true> = {
  findPatient: true,
  searchPatients: true,
  createPatient: true,
  findResource: true,
  listResources: true,
  listHealthcareServices: true,
  listTimeSlots: true,
  findAppointments: true,
  listAppointments: true,
  listAppointmentChanges: true,
  changeAppointments: true,
  findOperation: true,
  settleChanges: true,
  listMedicalNotes: true,
  findMedicalNote: true,
  createMedicalNote: true,
  findMedicalNoteWrite: true,
  withdrawMedicalNote: true,
  listDocuments: true,
  findDocument: true,
  readDocument: true,
  createDocument: true,
  findDocumentWrite: true,
  withdrawDocument: true,
  listSchedules: true,
  findSchedule: true,
  createSchedule: true,
  endSchedule: true,
  addScheduleException: true,
  findScheduleWrite: true,
  withdrawSchedule: true,
  extendSchedules: true,
};

/** Every operation of the port. */
export const operations = Object.keys(names) as readonly ConnectorOperation[];
