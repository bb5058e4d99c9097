import type { FhirConnection } from '../connection.ts';
import type { FhirAppointment } from '../fhir.ts';
import { slotsOf } from '../mappers/appointment.ts';
import { quietly } from './lost-race.ts';

/**
 * The Slots that booking has made go with the appointment, as by Medplum's own `$cancel`:
 * https://www.medplum.com/docs/scheduling/appointment-cancel. If it breaks off, cancelling once more does the rest.
 */
export async function removeSlots({ client }: FhirConnection, appointment: FhirAppointment): Promise<void> {
  for (const slot of slotsOf(appointment)) await quietly(() => client.remove(slot));
}
