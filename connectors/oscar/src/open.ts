import type { Connector, ConnectorContext } from '@crossward/connector-kit';
import { directoryOperations, oneChange } from '@crossward/connector-kit/rest';
import { listAppointmentChanges } from './appointment-changes.ts';
import { findAppointments, listAppointments } from './appointments.ts';
import { book, cancel, longestComment, settleChanges, update } from './changes.ts';
import { openEhr } from './ehr.ts';
import { findPatient, numberType } from './patients.ts';
import type { OscarSettings } from './settings.ts';
import { listTimeSlots } from './time-slots.ts';

/** Opens without asking the server, so that a gateway starts while it is away. */
export async function open(context: ConnectorContext<OscarSettings>): Promise<Connector> {
  const ehr = openEhr(context);
  return {
    capabilities: {
      patientIdentifierTypes: ['emr_id', numberType],
      resourceIdentifierTypes: ['emr_id'],
      changes: ['create', 'update', 'cancel'],
      transactions: false,
      commentLength: longestComment,
      commentsWithoutEmoji: true,
      // The server takes whole rows. What it archives does not name its appointment, so a move by staff is not found.
      lastWriteWins: true,
    },
    findPatient: (identifier) => findPatient(ehr, identifier),
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
