import type { Connector, ConnectorContext, StatelessConnectorModule } from '@crossward/connector-kit';
import { oneChange } from '@crossward/connector-kit/rest';
import { listAppointmentChanges } from './appointment-changes.ts';
import { findAppointments, listAppointments } from './appointments.ts';
import { book, cancel, settleChanges, update } from './changes.ts';
import { openEhr } from './ehr.ts';
import { createPatient, findPatient, typesOf } from './patients.ts';
import { probe } from './probe.ts';
import { type CareSettings, careSettings } from './settings.ts';
import { listTimeSlots } from './time-slots.ts';

/** CARE of the Open Healthcare Network: https://github.com/ohcnetwork/care */
export const careConnector: StatelessConnectorModule<CareSettings> = {
  name: 'care',
  settingsSchema: careSettings,
  open,
  probe,
};

/** Opens without asking the server, so that a gateway starts while it is away. */
async function open(context: ConnectorContext<CareSettings>): Promise<Connector> {
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
    findResource: async (careUnit, { value }) =>
      (await ehr.lists.find(careUnit, ({ resources }) => resources.find(({ id }) => id === value))) ?? null,
    listResources: async (careUnit) => (await ehr.lists.of(careUnit)).resources,
    listHealthcareServices: async (careUnit) => (await ehr.lists.of(careUnit)).services,
    listTimeSlots: (query) => listTimeSlots(ehr, query),
    findAppointments: (careUnit, ids) => findAppointments(ehr, careUnit, ids),
    listAppointments: (query) => listAppointments(ehr, query),
    listAppointmentChanges: (query) => listAppointmentChanges(ehr, query),
    settleChanges: (changes) => settleChanges(ehr, changes),
    changeAppointments: (write) =>
      oneChange(write, {
        create: (careUnit, change) => book(ehr, careUnit, change),
        update: (careUnit, change) => update(ehr, careUnit, change),
        cancel: (careUnit, change) => cancel(ehr, careUnit, change),
      }),
  };
}
