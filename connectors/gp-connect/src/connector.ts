import type { Connector, ConnectorContext, StatelessConnectorModule } from '@crossward/connector-kit';
import { changesOf } from '@crossward/connector-kit/rest';
import { findAppointments, listAppointments } from './appointment-reads.ts';
import { book } from './book.ts';
import { amend, cancel } from './changes.ts';
import { connect } from './connection.ts';
import { findPatient } from './patients.ts';
import { describeGpConnect, probeGpConnect } from './probe.ts';
import { type GpConnectSettings, gpConnectSettings, longestComment } from './settings.ts';
import { listTimeSlots } from './time-slots.ts';

/** GP Connect Appointment Management 1.2.7: https://developer.nhs.uk/apis/gpconnect-1-2-7/appointments.html */
export const gpConnectConnector: StatelessConnectorModule<GpConnectSettings> = {
  name: 'gp-connect',
  title: 'GP practice, by GP Connect (England)',
  settingsSchema: gpConnectSettings,
  open: openGpConnect,
  probe: probeGpConnect,
  describe: describeGpConnect,
};

async function openGpConnect(context: ConnectorContext<GpConnectSettings>): Promise<Connector> {
  const ehr = connect(context);
  const { client, directory } = ehr;
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
    findPatient: (identifier) => findPatient(client, identifier),
    findResource: async (careUnit, { value }) => directory.resourceOf(careUnit.id, value) ?? null,
    listResources: async (careUnit) => directory.resourcesOf(careUnit.id),
    listHealthcareServices: async () => directory.services,
    listTimeSlots: (query) => listTimeSlots(ehr, query),
    findAppointments: (careUnit, ids) => findAppointments(ehr, careUnit, ids),
    listAppointments: (query) => listAppointments(ehr, query),
    changeAppointments: changesOf(ehr, { create: book, update: amend, cancel }),
  };
}
