import { defineConnector } from '@crossward/connector-kit';
import { directoryOperations } from '@crossward/connector-kit/rest';
import { listAppointmentChanges } from './appointment-changes.ts';
import { findAppointments, listAppointments } from './appointment-reads.ts';
import { changeAppointments, findOperation } from './appointment-writes.ts';
import { openClinic } from './clinic.ts';
import { findPatient } from './patients.ts';
import { probe } from './probe.ts';
import { type Settings, settingsSchema } from './settings.ts';
import { listTimeSlots } from './time-slots.ts';

/** Books in a small REST EHR. */
export const connector = defineConnector<Settings>({
  name: 'clinic',
  settingsSchema,
  probe,
  open: async (context) => {
    const clinic = openClinic(context);
    return {
      capabilities: {
        patientIdentifierTypes: ['emr_id', 'nhs_number'],
        resourceIdentifierTypes: ['emr_id'],
        changes: ['create', 'update', 'cancel'],
        transactions: false,
      },
      findPatient: (identifier) => findPatient(clinic, identifier),
      ...directoryOperations((careUnit) => clinic.at(careUnit).lists),
      listTimeSlots: (query) => listTimeSlots(clinic.at(query.careUnit), query),
      findAppointments: (careUnit, ids) => findAppointments(clinic.at(careUnit), ids),
      listAppointments: (query) => listAppointments(clinic.at(query.careUnit), query),
      listAppointmentChanges: (query) => listAppointmentChanges(clinic, query),
      changeAppointments: (write) => changeAppointments(clinic.at(write.careUnit), write),
      findOperation: (careUnit, operationId) => findOperation(clinic.at(careUnit), operationId),
    };
  },
});
