import {
  type Capabilities,
  type ChangeKind,
  type Connector,
  type ConnectorContext,
  ConnectorError,
  type StatelessConnectorModule,
} from '@crossward/connector-kit';
import { type Changes, directoryOperations, oneChange, servicesWith } from '@crossward/connector-kit/rest';
import { findAppointments, listAppointments } from './bookings.ts';
import { cancel, create, type Ehr, update } from './changes.ts';
import { directoryOf } from './directory.ts';
import { medicalNotes } from './notes.ts';
import { subjectOf } from './patient-id.ts';
import { probeProducer } from './probe.ts';
import { type Producer, producerOf } from './producer.ts';
import { type RivtaSettings, rivtaSettings } from './settings.ts';
import { listTimeSlots } from './slots.ts';

/** A producer of the Swedish service contracts `crm:scheduling` 1.1, RIVTABP21. */
export const rivtaSchedulingConnector: StatelessConnectorModule<RivtaSettings> = {
  name: 'rivta-scheduling',
  title: 'Producer of crm:scheduling 1.1, as behind 1177 (Sweden)',
  settingsSchema: rivtaSettings,
  open: openRivta,
  probe: probeProducer,
};

/** Sends nothing. @throws ConnectorError `rejected` for settings that do not suit each other */
async function openRivta(context: ConnectorContext<RivtaSettings>): Promise<Connector> {
  const producer = producerOf(context);
  for (const { id } of context.careUnits) assertListed(producer, id);
  const directory = directoryOf(producer);
  const ehr = { producer, directory };
  const changes = changesOf(ehr);
  const made = changeKinds.filter((kind) => kind in changes);
  return {
    capabilities: capabilitiesOf(producer, made),
    ...directoryOperations(directory),
    listHealthcareServices: async (careUnit, wanted = [], patientId = '') => {
      const complete = await servicesWith(directory, careUnit, wanted);
      if (complete) return complete;
      const subject = subjectOf(patientId);
      return subject ? directory.servicesFor(careUnit, subject) : (await directory.of(careUnit)).services;
    },
    findAppointments: (careUnit, ids) => findAppointments(producer, careUnit, ids),
    listAppointments: (query) => listAppointments(producer, query),
    ...(producer.has('GetAvailableTimeslots')
      ? { listTimeSlots: (query) => listTimeSlots(producer, directory, query) }
      : {}),
    ...(made.length > 0 ? { changeAppointments: (write) => oneChange(write, changes) } : {}),
    ...medicalNotes(context),
  };
}

const changeKinds: readonly ChangeKind[] = ['create', 'update', 'cancel'];

/** Booking and moving need a search for free times. */
function changesOf(ehr: Ehr): Changes {
  const has = ehr.producer.has;
  const searches = has('GetAvailableTimeslots');
  return {
    ...(searches && has('MakeBooking') ? { create: (unit, change) => create(ehr, unit, change) } : {}),
    ...(searches && has('UpdateBooking') ? { update: (unit, change) => update(ehr, unit, change) } : {}),
    ...(has('CancelBooking') ? { cancel: (unit, change) => cancel(ehr, unit, change) } : {}),
  };
}

function capabilitiesOf({ searchSubject }: Producer, changes: readonly ChangeKind[]): Capabilities {
  return {
    patientIdentifierTypes: ['emr_id', 'se_personal_number'],
    passesThrough: ['se_personal_number'],
    resourceIdentifierTypes: ['emr_id', 'hsa_id'],
    changes,
    transactions: false,
    // UpdateBooking sends the whole booking, and the contracts have no versions.
    lastWriteWins: true,
    appointmentsByPatient: 'required',
    forgetsCancelled: true,
    appointmentIdsNamePatients: true,
    patientDetails: 'required',
    slotsByPatient: searchSubject === undefined ? 'required' : 'optional',
    // The national service level: one request a second for each producer.
    requestsPerSecond: 1,
  };
}

/** The producer lists its performers and time types for a number only. */
function assertListed(producer: Producer, careUnitId: string): void {
  const { resources, healthcare_services } = producer.facilityOf({ id: careUnitId }).settings;
  const asks = (operation: 'GetAllPerformers' | 'GetAllTimeTypes') =>
    producer.searchSubject !== undefined && producer.has(operation);
  if ((resources || asks('GetAllPerformers')) && (healthcare_services || asks('GetAllTimeTypes'))) return;
  const words = `Care unit ${careUnitId} must list its resources and healthcare_services, or search_subject must be set`;
  throw new ConnectorError('rejected', words);
}
