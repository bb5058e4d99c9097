import type { FhirConnection } from '../connection.ts';
import type { FhirAppointment } from '../fhir.ts';

/**
 * Takes back an appointment that should not have come to be.
 *
 * @returns whether it is gone, or `entered-in-error`
 */
export async function withdraw(
  { client }: Pick<FhirConnection, 'client'>,
  reference: string | undefined,
): Promise<boolean> {
  if (reference === undefined) return false;
  const removed = await client.remove(reference);
  if (removed.ok) return true;
  const appointment = await client.read<FhirAppointment>(reference);
  if (!appointment) return true;
  const { slot: _, ...rest } = appointment;
  const marked = await client.update({ ...rest, status: 'entered-in-error' } as FhirAppointment, {
    ifMatch: appointment.meta?.versionId,
  });
  return marked.ok;
}
