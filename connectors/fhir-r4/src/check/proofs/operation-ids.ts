import { randomUUID } from 'node:crypto';
import { withdraw } from '../../booking/write/withdraw.ts';
import type { FhirClient } from '../../server/client.ts';
import { isRejection } from '../../server/outcome.ts';
import { appointmentsMarked, probeAppointment } from './probe-appointment.ts';
import type { Proof } from './proof.ts';

/**
 * Proves that the server keeps the gateway's identifier and finds the appointment by it: some servers drop identifiers
 * that they did not assign. The appointment is `entered-in-error`, and is deleted if the server allows that.
 */
export async function proveOperationIds(client: FhirClient, operationSystem: string): Promise<Proof> {
  const marker = `probe-${randomUUID()}`;
  const made = await client.create(probeAppointment(operationSystem, marker));
  if (!made.ok) return 'unproven';
  try {
    const [found] = await appointmentsMarked(client, operationSystem, marker);
    return found ? 'held' : 'broken';
  } catch (error) {
    if (isRejection(error)) return 'broken';
    throw error;
  } finally {
    await withdraw({ client }, made.reference);
  }
}
