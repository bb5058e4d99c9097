import type { ChangeKind, ConnectorOperation } from '@crossward/connector-kit';
import type { EhrConnection } from '../ehr/connection.ts';

interface Requirements {
  readonly operations: readonly ConnectorOperation[];
  readonly changes?: readonly ChangeKind[];
}

/** The operations of the API, with the connector operations and changes that each one requires. */
export const ehrOperations = {
  get_patient: { operations: ['findPatient'] },
  list_resources: { operations: ['listResources'] },
  get_resource: { operations: ['findResource'] },
  list_schedules: { operations: ['findResource', 'listSchedules'] },
  create_schedule: { operations: ['findResource', 'listHealthcareServices', 'createSchedule'] },
  get_schedule: { operations: ['findResource', 'findSchedule'] },
  end_schedule: { operations: ['findResource', 'findSchedule', 'endSchedule'] },
  add_schedule_exception: { operations: ['findResource', 'findSchedule', 'addScheduleException'] },
  list_healthcare_services: { operations: ['listHealthcareServices'] },
  list_timeslots: { operations: ['listTimeSlots'] },
  list_appointments: { operations: ['listAppointments'] },
  get_appointment: { operations: ['findAppointments'] },
  create_appointment: {
    operations: ['findPatient', 'findResource', 'listHealthcareServices', 'changeAppointments'],
    changes: ['create'],
  },
  update_appointment: { operations: ['findAppointments', 'changeAppointments'], changes: ['update'] },
  cancel_appointment: { operations: ['findAppointments', 'changeAppointments'], changes: ['cancel'] },
  reschedule_appointments: {
    operations: ['findAppointments', 'listTimeSlots', 'changeAppointments'],
    changes: ['create', 'update', 'cancel'],
  },
  list_medical_notes: { operations: ['findPatient', 'listMedicalNotes'] },
  get_medical_note: { operations: ['findPatient', 'findMedicalNote'] },
  create_medical_note: { operations: ['findPatient', 'createMedicalNote'] },
  list_documents: { operations: ['findPatient', 'listDocuments'] },
  get_document: { operations: ['findPatient', 'findDocument'] },
  get_document_content: { operations: ['findPatient', 'findDocument', 'readDocument'] },
  create_document: { operations: ['findPatient', 'findResource', 'createDocument'] },
} as const satisfies Record<string, Requirements>;
export type EhrOperation = keyof typeof ehrOperations;

/** The operations that this EHR supports. */
export function operationsOf(ehr: EhrConnection): EhrOperation[] {
  return (Object.keys(ehrOperations) as EhrOperation[]).filter((name) => {
    const { operations, changes = [] }: Requirements = ehrOperations[name];
    return operations.every(ehr.offers) && changes.every((kind) => ehr.capabilities.changes.includes(kind));
  });
}
