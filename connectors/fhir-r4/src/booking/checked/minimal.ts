import { ConnectorError } from '@crossward/connector-kit';
import { type FhirAppointment, localReference } from '../../fhir.ts';
import { slotsOf } from '../../mappers/appointment.ts';

/**
 * A new Appointment without the elements that the server copies from the Slot. Oracle Health accepts exactly one Slot
 * and one patient who has accepted: https://fhir.cerner.com/millennium/r4/base/workflow/appointment
 *
 * @throws ConnectorError `time_slot_unavailable` for more than one Slot
 */
export function minimalAppointment(appointment: FhirAppointment): FhirAppointment {
  if (slotsOf(appointment).length !== 1) {
    throw new ConnectorError('time_slot_unavailable', 'This EHR books one time slot at a time');
  }
  const { resourceType, status, identifier, slot, comment, description, patientInstruction, participant } = appointment;
  const patients = participant?.filter(({ actor }) => localReference(actor)?.startsWith('Patient/'));
  const optional = { status, identifier, slot, comment, description, patientInstruction };
  const given = Object.fromEntries(Object.entries(optional).filter(([, value]) => value !== undefined));
  return { resourceType, ...given, participant: patients ?? [] };
}
