import type { FhirAppointment } from '../../fhir.ts';
import type { FhirClient } from '../../server/client.ts';

/** The appointments with an identifier of the gateway. */
export async function appointmentsMarked(
  client: FhirClient,
  system: string,
  marker: string,
): Promise<FhirAppointment[]> {
  const found = await client.search<FhirAppointment>('Appointment', [['identifier', `${system}|${marker}`]]);
  // Some servers ignore a search parameter that they do not know.
  return found.filter((it) => it.identifier?.some(({ value }) => value === marker));
}

/** An appointment for a proof: in the past, `entered-in-error`, and without a patient. */
export function probeAppointment(system: string, value: string): FhirAppointment {
  const start = new Date('2000-01-01T00:00:00Z');
  return {
    resourceType: 'Appointment',
    status: 'entered-in-error',
    identifier: [{ system, value }],
    start: start.toISOString(),
    end: new Date(start.getTime() + 60_000).toISOString(),
    participant: [{ actor: { display: 'Crossward' }, status: 'declined' }],
  };
}
