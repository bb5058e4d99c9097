import type { FhirConnection } from '../connection.ts';
import type { FhirAppointment } from '../fhir.ts';
import { slotsOf } from '../mappers/appointment.ts';
import { quietly } from './lost-race.ts';

/**
 * Medplum's `$cancel` deletes the Slots that booking has made (https://www.medplum.com/docs/scheduling/appointment-cancel),
 * but heeds no version: it could end what somebody else has just confirmed. So the Appointment is cancelled under its
 * version, and then its Slots go. If that breaks off, cancelling once more does the rest.
 */
export async function removeSlots({ client }: FhirConnection, appointment: FhirAppointment): Promise<void> {
  for (const slot of slotsOf(appointment)) await quietly(() => client.remove(slot));
}
