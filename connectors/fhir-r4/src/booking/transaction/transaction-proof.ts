import { randomUUID } from 'node:crypto';
import {
  anySlotOrSchedule,
  appointmentsMarked,
  noVersion,
  type Proof,
  probeAppointment,
  proofOfRejection,
} from '../../check/proofs.ts';
import { isBundle, referenceTo, storedReference } from '../../fhir.ts';
import type { FhirClient } from '../../server/client.ts';
import { weakTag } from '../../server/messages.ts';
import { withdraw } from '../write/appointment.ts';

/**
 * Proves that a transaction is all or nothing: one that has to fail must leave nothing. Some servers run it as a batch,
 * and some do not roll back. If an appointment is left, it is `entered-in-error` and is removed.
 */
export async function proveTransactions(client: FhirClient): Promise<Proof> {
  const victim = await anySlotOrSchedule(client);
  if (!victim) return 'unproven';
  const marker = `probe-${randomUUID()}`;
  const reference = referenceTo(victim);
  const response = await client.transaction({
    resourceType: 'Bundle',
    type: 'transaction',
    entry: [
      {
        fullUrl: `urn:uuid:${randomUUID()}`,
        resource: probeAppointment(marker),
        request: { method: 'POST', url: 'Appointment' },
      },
      { resource: victim, request: { method: 'PUT', url: reference, ifMatch: weakTag(noVersion) } },
    ],
  });
  const ours = await appointmentsMarked(client, marker);
  for (const appointment of ours) await withdraw({ client }, referenceTo(appointment));
  if (response.ok || ours.length > 0) {
    const entries = isBundle(response.body) ? (response.body.entry ?? []) : [];
    for (const { resource, response } of entries) {
      const made = storedReference(response?.location ?? (resource && referenceTo(resource)));
      if (made?.startsWith('Appointment/') && response?.status?.startsWith('2') && ours.length === 0) {
        await withdraw({ client }, made);
      }
    }
    return 'broken';
  }
  // The server may have rejected the transaction for another reason, which proves nothing about atomicity.
  return proofOfRejection(response, victim, (ifMatch) =>
    client.transaction({
      resourceType: 'Bundle',
      type: 'transaction',
      entry: [{ resource: victim, request: { method: 'PUT', url: reference, ifMatch: weakTag(ifMatch) } }],
    }),
  );
}
