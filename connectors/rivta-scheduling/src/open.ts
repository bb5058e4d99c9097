import {
  type Capabilities,
  type ChangeKind,
  type Connector,
  type ConnectorContext,
  ConnectorError,
} from '@crossward/connector-kit';
import { directoryOperations, oneChange, servicesWith } from '@crossward/connector-kit/rest';
import { findAppointments, listAppointments } from './bookings.ts';
import { cancel, create, update } from './changes.ts';
import { type At, type Ehr, openEhr, servicesFor } from './ehr.ts';
import { subjectOf } from './ids.ts';
import { medicalNotes } from './notes.ts';
import type { RivtaSettings } from './settings.ts';
import { listTimeSlots } from './slots.ts';

/** Sends nothing. @throws ConnectorError `rejected` for settings that do not suit each other */
export async function open(context: ConnectorContext<RivtaSettings>): Promise<Connector> {
  const ehr = openEhr(context);
  for (const it of context.careUnits) assertListed(ehr.at(it));
  const made = changesOf(ehr);
  const kinds = changeKinds.filter((kind) => kind in made);
  return {
    capabilities: capabilitiesOf(ehr, kinds),
    ...directoryOperations((careUnit) => ehr.at(careUnit).lists),
    listHealthcareServices: async (careUnit, wanted = [], patientId = '') => {
      const at = ehr.at(careUnit);
      const complete = await servicesWith(at.lists, wanted);
      if (complete) return complete;
      const subject = subjectOf(patientId);
      return subject ? servicesFor(at, subject) : (await at.lists.get()).services;
    },
    findAppointments: (careUnit, ids) => findAppointments(ehr.at(careUnit), ids),
    listAppointments: (query) => listAppointments(ehr.at(query.careUnit), query),
    ...(ehr.client.has('GetAvailableTimeslots')
      ? { listTimeSlots: (query) => listTimeSlots(ehr.at(query.careUnit), query) }
      : {}),
    ...(kinds.length > 0
      ? { changeAppointments: ({ careUnit, changes }) => oneChange(ehr.at(careUnit), changes, made) }
      : {}),
    ...medicalNotes(ehr),
  };
}

const changeKinds: readonly ChangeKind[] = ['create', 'update', 'cancel'];

/** Booking and moving need a search for free times. */
function changesOf({ client: { has } }: Ehr) {
  const searches = has('GetAvailableTimeslots');
  return {
    ...(searches && has('MakeBooking') ? { create } : {}),
    ...(searches && has('UpdateBooking') ? { update } : {}),
    ...(has('CancelBooking') ? { cancel } : {}),
  };
}

function capabilitiesOf({ settings }: Ehr, changes: readonly ChangeKind[]): Capabilities {
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
    slotsByPatient: settings.search_subject === undefined ? 'required' : 'optional',
    // The national service level: one request a second for each producer.
    requestsPerSecond: 1,
  };
}

/** The producer lists its performers and time types for a number only. */
function assertListed({ client, careUnit, settings, unit }: At): void {
  const { resources, healthcare_services } = unit.settings;
  const asks = (operation: 'GetAllPerformers' | 'GetAllTimeTypes') =>
    settings.search_subject !== undefined && client.has(operation);
  if ((resources || asks('GetAllPerformers')) && (healthcare_services || asks('GetAllTimeTypes'))) return;
  const words = `Care unit ${careUnit.id} must list its resources and healthcare_services, or search_subject must be set`;
  throw new ConnectorError('rejected', words);
}
