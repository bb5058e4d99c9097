import { ConnectorError } from '@crossward/connector-kit';
import type { FhirResource } from '../../fhir.ts';
import type { FhirClient, WriteResponse } from '../../server/client.ts';

/** A version that no server assigns. */
export const noVersion = '999999999';

/**
 * Whether a server has a property that a booking mode relies on.
 *
 * - `held`: it does
 * - `broken`: it does not
 * - `rejected`: it does not let the client write slots, or not in this way
 * - `unproven`: there is no data for the proof, or the server rejected the proof for another reason
 */
export type Proof = 'held' | 'broken' | 'rejected' | 'unproven';

/**
 * What a rejected proof means.
 *
 * @param writeUnder repeats the write under the correct version
 */
export async function proofOfRejection(
  { status }: WriteResponse,
  { resourceType, meta }: FhirResource,
  writeUnder: (version: string) => Promise<WriteResponse>,
): Promise<Proof> {
  if (status === 412 || status === 409) return 'held';
  // 400 may be about the version or about something else. If it is something else, the correct version is rejected too.
  if (status === 400) return meta?.versionId && (await writeUnder(meta.versionId)).ok ? 'held' : 'unproven';
  // A client that may write slots may not be allowed to write schedules.
  const isForbidden = status === 401 || status === 403 || status === 405;
  return isForbidden && resourceType === 'Slot' ? 'rejected' : 'unproven';
}

/** A resource for the proof, which is written back unchanged. */
export async function anySlotOrSchedule(client: FhirClient): Promise<FhirResource | undefined> {
  for (const type of ['Slot', 'Schedule']) {
    try {
      for await (const { resources } of client.pages(type, [['_count', '1']])) {
        if (resources[0]) return resources[0];
        break;
      }
    } catch (error) {
      // Some servers require more parameters in a search for slots.
      if (!(error instanceof ConnectorError) || error.kind !== 'rejected') throw error;
    }
  }
  return undefined;
}
