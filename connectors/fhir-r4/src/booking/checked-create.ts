import { type ChangeKind, ConnectorError } from '@crossward/connector-kit';
import { type FhirAppointment, localReference } from '../fhir.ts';
import { slotsOf } from '../mappers/appointment.ts';
import { ofPatientIn } from '../patients/of-patient.ts';
import type { ServerFacts } from '../server/capability-statement.ts';
import { type FhirConnection, withOperationLookup } from '../server/connection.ts';
import { type Booking, createBooking } from './booking.ts';
import { planOnSlots } from './changes/single.ts';
import { runCheckedWrite } from './write/attempts.ts';

/**
 * Books by `POST Appointment`, for a server that rejects an Appointment whose Slot is taken and updates the Slot itself, as
 * Oracle Health does: https://fhir.cerner.com/millennium/r4/base/workflow/appointment. The connector never writes a Slot.
 * With the setting `minimal_create`, a new Appointment contains only its Slot and its patient.
 */
export function checkedCreateBooking(connection: FhirConnection, facts: ServerFacts): Booking {
  const ehr = withOperationLookup(connection, false);
  const isMinimal = ehr.settings.booking?.minimal_create === true;
  return createBooking(ehr, {
    capabilities: { changes: createChanges(facts), transactions: false },
    plan: async (write) => {
      const own = await ofPatientIn(ehr, write);
      return { own, change: await planOnSlots(own, write) };
    },
    execute: async ({ own, change }) => {
      const isNew = change.before === null;
      const wanted = isMinimal && isNew ? { ...change, after: minimalAppointment(change.after) } : change;
      return [await runCheckedWrite(own, wanted)];
    },
  });
}

/** A server that changes an Appointment by JSON Patch alone, such as Oracle Health, cannot move it. */
function createChanges(facts: ServerFacts): readonly ChangeKind[] {
  if (facts.can('Appointment', 'update')) return ['create', 'update', 'cancel'];
  return facts.can('Appointment', 'patch') ? ['create', 'cancel'] : ['create'];
}

/**
 * A new Appointment without the elements that the server copies from the Slot. Oracle Health accepts exactly one Slot
 * and one patient who has accepted: https://fhir.cerner.com/millennium/r4/base/workflow/appointment
 *
 * @throws ConnectorError `time_slot_unavailable` for more than one Slot
 */
function minimalAppointment(appointment: FhirAppointment): FhirAppointment {
  if (slotsOf(appointment).length !== 1) {
    throw new ConnectorError('time_slot_unavailable', 'This EHR books one time slot at a time');
  }
  const { resourceType, status, identifier, slot, comment, description, patientInstruction, extension, participant } =
    appointment;
  const patients = participant?.filter(({ actor }) => localReference(actor)?.startsWith('Patient/'));
  const optional = { status, identifier, slot, comment, description, patientInstruction, extension };
  const given = Object.fromEntries(Object.entries(optional).filter(([, value]) => value !== undefined));
  return { resourceType, ...given, participant: patients ?? [] };
}
