import { anySlotOrSchedule, noVersion, type Proof, proofOfRejection } from '../../check/proofs/proof.ts';
import type { FhirClient } from '../../server/client.ts';

/**
 * Proves that the server rejects a PUT under a version that is not the current one. The PUT writes the current content.
 */
export async function proveIfMatch(client: FhirClient): Promise<Proof> {
  const victim = await anySlotOrSchedule(client);
  if (!victim) return 'unproven';
  const response = await client.update(victim, { ifMatch: noVersion });
  return response.ok ? 'broken' : proofOfRejection(response, victim, (ifMatch) => client.update(victim, { ifMatch }));
}
