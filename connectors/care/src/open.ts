import type { Connector, ConnectorContext } from '@crossward/connector-kit';
import { directoryOperations, oneChange } from '@crossward/connector-kit/rest';
import { listAppointmentChanges } from './appointment-changes.ts';
import { findAppointments, listAppointments } from './appointments.ts';
import { book, cancel, settleChanges, update } from './changes.ts';
import { openEhr } from './ehr.ts';
import { createPatient, findPatient, typesOf } from './patients.ts';
import type { CareSettings } from './settings.ts';
import { listTimeSlots } from './time-slots.ts';

/** Opens without asking the server, so that a gateway starts while it is away. */
export async function open(context: ConnectorContext<CareSettings>): Promise<Connector> {
  const ehr = openEhr(context);
  return {
    capabilities: {
      patientIdentifierTypes: ['emr_id', ...typesOf(ehr)],
      resourceIdentifierTypes: ['emr_id'],
      changes: ['create', 'update', 'cancel'],
      transactions: false,
      movesToNewId: true,
    },
    findPatient: (identifier) => findPatient(ehr, identifier),
    ...(context.settings.registration ? { createPatient: (creation) => createPatient(ehr, creation) } : {}),
    ...directoryOperations((careUnit) => ehr.at(careUnit).lists),
    listTimeSlots: (query) => listTimeSlots(ehr.at(query.careUnit), query),
    findAppointments: (careUnit, ids) => findAppointments(ehr.at(careUnit), ids),
    listAppointments: (query) => listAppointments(ehr.at(query.careUnit), query),
    listAppointmentChanges: (query) => listAppointmentChanges(ehr, query),
    settleChanges: (changes) => settleChanges(ehr.at(changes.careUnit), changes),
    changeAppointments: ({ careUnit, changes }) =>
      oneChange(ehr.at(careUnit), changes, { create: book, update, cancel }),
  };
}
