import { ConnectorError } from '@crossward/connector-kit';
import type { FhirClient, WriteResponse } from '../../client.ts';
import type { FhirResource } from '../../fhir.ts';

/** A version that no server gives. */
export const noVersion = '999999999';

/**
 * Whether a server keeps a promise that a way to book relies on.
 *
 * - `held`: it does
 * - `broken`: it does not
 * - `refused`: it does not let us write slots, or not in this way
 * - `unproven`: it has nothing to try this on, or refused the trial
 */
export type Proof = 'held' | 'broken' | 'refused' | 'unproven';

/**
 * What a refused trial proves.
 *
 * @param writeUnder repeats the trial under the right version
 */
export async function proofOfRefusal(
  { status }: WriteResponse,
  { resourceType, meta }: FhirResource,
  writeUnder: (version: string) => Promise<WriteResponse>,
): Promise<Proof> {
  if (status === 412 || status === 409) return 'held';
  // 400 may be for the version, or for anything else. For anything else, the right version is refused too.
  if (status === 400) return meta?.versionId && (await writeUnder(meta.versionId)).ok ? 'held' : 'unproven';
  // A client that may write slots need not be allowed to write schedules.
  const isForbidden = status === 401 || status === 403 || status === 405;
  return isForbidden && resourceType === 'Slot' ? 'refused' : 'unproven';
}

/** Something to try a write on: it is written back as it is. */
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
