import type { FhirConnection } from '../connection.ts';
import type { FhirAppointment } from '../fhir.ts';

/** Takes back an appointment that should not have come to be. */
export async function withdraw(
  { client }: Pick<FhirConnection, 'client'>,
  reference: string | undefined,
): Promise<void> {
  if (reference === undefined) return;
  const removed = await client.remove(reference);
  if (removed.ok) return;
  const appointment = await client.read<FhirAppointment>(reference);
  if (!appointment) return;
  const { slot: _, ...rest } = appointment;
  await client.update({ ...rest, status: 'entered-in-error' } as FhirAppointment, {
    ifMatch: appointment.meta?.versionId,
  });
}
