import type { FhirAppointment } from '../../fhir.ts';
import type { FhirConnection } from '../../server/connection.ts';

/**
 * Removes an appointment that should not exist, or marks it as `entered-in-error`.
 *
 * @returns whether either was done
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
