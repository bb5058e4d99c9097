import type { Connector, ConnectorContext } from '@crossward/connector-kit';
import { directoryOperations, oneChange } from '@crossward/connector-kit/rest';
import { findAppointments, listAppointments } from './appointments.ts';
import { book } from './book.ts';
import { amend, cancel } from './changes.ts';
import { openEhr } from './ehr.ts';
import { findPatient } from './patients.ts';
import { type GpConnectSettings, longestComment } from './settings.ts';
import { listTimeSlots } from './slots.ts';

export async function open(context: ConnectorContext<GpConnectSettings>): Promise<Connector> {
  const ehr = openEhr(context);
  return {
    capabilities: {
      patientIdentifierTypes: ['emr_id', 'nhs_number'],
      resourceIdentifierTypes: ['emr_id'],
      changes: ['create', 'update', 'cancel'],
      transactions: false,
      rebooks: true,
      commentLength: longestComment,
      appointmentsByPatient: 'required',
    },
    findPatient: (identifier) => findPatient(ehr.client, identifier),
    ...directoryOperations((careUnit) => ehr.at(careUnit).lists),
    listTimeSlots: (query) => listTimeSlots(ehr.at(query.careUnit), query),
    findAppointments: (careUnit, ids) => findAppointments(ehr.at(careUnit), ids),
    listAppointments: (query) => listAppointments(ehr.at(query.careUnit), query),
    changeAppointments: ({ careUnit, changes }) =>
      oneChange(ehr.at(careUnit), changes, { create: book, update: amend, cancel }),
  };
}
