import { batchedLookUps, type Connector, type ConnectorContext, identifierTypesOf } from '@crossward/connector-kit';
import { directoryOperations, oneChange } from '@crossward/connector-kit/rest';
import { book } from './appointments/book.ts';
import { cancel } from './appointments/cancel.ts';
import { listAppointmentChanges } from './appointments/changes.ts';
import { findAppointments, listAppointments } from './appointments/read.ts';
import { settleChanges } from './appointments/settle.ts';
import { listTimeSlots } from './appointments/time-slots.ts';
import { update } from './appointments/update.ts';
import { openEhr } from './ehr.ts';
import { findPatient } from './patients.ts';
import { documents } from './records/documents.ts';
import { medicalNotes } from './records/medical-notes.ts';
import type { GnuHealthSettings } from './settings.ts';

const mostIds = 200;

/** Opens without asking the server, so that a gateway starts while it is away. */
export async function open(context: ConnectorContext<GnuHealthSettings>): Promise<Connector> {
  const ehr = openEhr(context);
  const { national_number: number } = context.settings;
  return {
    capabilities: {
      patientIdentifierTypes: ['emr_id', ...(number ? [number] : [])],
      resourceIdentifierTypes: [
        'emr_id',
        ...(number && identifierTypesOf('resource').includes(number) ? [number] : []),
      ],
      changes: ['create', 'update', 'cancel'],
      transactions: false,
    },
    findPatient: (identifier) => findPatient(ehr.client, ehr.settings, identifier),
    ...directoryOperations((careUnit) => ehr.at(careUnit).lists),
    listTimeSlots: (query) => listTimeSlots(ehr.at(query.careUnit), query),
    findAppointments: batchedLookUps((careUnit, ids) => findAppointments(ehr.at(careUnit), ids), mostIds),
    listAppointments: (query) => listAppointments(ehr.at(query.careUnit), query),
    listAppointmentChanges: (query) => listAppointmentChanges(ehr, query),
    changeAppointments: ({ careUnit, changes }) =>
      oneChange(ehr.at(careUnit), changes, { create: book, update, cancel }),
    settleChanges: (changes) => settleChanges(ehr.at(changes.careUnit), changes),
    ...medicalNotes(ehr),
    ...documents(ehr),
  };
}
