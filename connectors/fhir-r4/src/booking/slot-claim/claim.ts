import { ConnectorError } from '@crossward/connector-kit';
import { type FhirAppointment, type FhirSlot, referenceTo } from '../../fhir.ts';
import { claimedSlot, claimOf } from '../../mappers/slot.ts';
import type { WriteResponse } from '../../server/client.ts';
import type { BookingConnection } from '../../server/connection.ts';
import type { PlannedSlot } from '../slots/place.ts';
import { versionOf } from '../write/appointment.ts';
import { afterWriting, isBroken, isConflict, isUnknown, LostRace, unknownOutcome } from '../write/outcomes.ts';

/** How long a slot stays claimed by an interrupted write. Then its owner's appointment decides whether it is taken. */
export const claimMilliseconds = 120_000;
const attempts = 3;

/**
 * Claims a slot. Returns the slot with its claim.
 *
 * @param isFinal whether a slot that is booked becomes `busy` immediately, and is not written again
 */
export async function claim(
  ehr: BookingConnection,
  { before, after, owner }: PlannedSlot,
  { isFinal }: { readonly isFinal: boolean },
): Promise<FhirSlot> {
  const until = new Date(ehr.client.clock.now().getTime() + claimMilliseconds);
  const status = isFinal && after.status === 'busy' ? 'busy' : 'busy-tentative';
  // A slot that is to be held gets its final state immediately.
  const wanted = after.status === 'busy-tentative' ? after : claimedSlot(before, status, { owner, until });
  for (let attempt = 1; ; attempt++) {
    try {
      return await put(ehr, wanted, versionOf(before));
    } catch (error) {
      if (!(error instanceof LostRace) && !isUnknown(error)) throw error;
      const current = await ehr.client.read<FhirSlot>(referenceTo(before));
      if (current && hasSameClaim(wanted, current)) return current;
      const isUntouched = current?.meta?.versionId === before.meta?.versionId;
      if (error instanceof LostRace || !isUntouched) throw new LostRace();
      if (attempt === attempts) throw unknownOutcome(error);
    }
  }
}

/** Restores the previous state of a claimed slot. Returns whether the claim is gone. */
export async function giveBack(
  ehr: BookingConnection,
  { slot, current }: { readonly slot: PlannedSlot; readonly current: FhirSlot },
): Promise<boolean> {
  const work = async () => {
    try {
      await put(ehr, slot.before, versionOf(current));
      return true;
    } catch (error) {
      if (!(error instanceof LostRace) && !isUnknown(error)) throw error;
      const now = await ehr.client.read<FhirSlot>(referenceTo(slot.before));
      return !now || !hasSameClaim(current, now);
    }
  };
  return work().catch((error: unknown) => {
    if (error instanceof ConnectorError) return false;
    throw error;
  });
}

export function hasSameClaim(a: FhirSlot, b: FhirSlot): boolean {
  const [one, other] = [claimOf(a), claimOf(b)];
  return a.status === b.status && one?.owner === other?.owner && one?.until?.getTime() === other?.until?.getTime();
}

/**
 * Writes a resource under the version that was read. Returns it with its new version.
 *
 * @throws LostRace if another write was faster: 412, or 409, or 400 on some servers
 */
export async function put<R extends FhirSlot | FhirAppointment>(
  ehr: BookingConnection,
  resource: R,
  version: string,
): Promise<R> {
  const response = await ehr.client.update(resource, { ifMatch: version });
  if (response.ok) return stored(ehr, resource, response);
  if (isConflict(response.status)) throw new LostRace();
  if (isBroken(response.status)) throw unknownOutcome(response.rejection);
  const current = await ehr.client.read(referenceTo(resource));
  if (current?.meta?.versionId !== version) throw new LostRace();
  throw response.rejection ?? new ConnectorError('rejected', `The EHR responded with ${response.status}`);
}

async function stored<R extends FhirSlot | FhirAppointment>(
  ehr: BookingConnection,
  resource: R,
  { resource: received, version }: WriteResponse,
): Promise<R> {
  if (received?.resourceType === resource.resourceType && received.meta?.versionId) return received as R;
  if (version !== undefined) return { ...resource, meta: { ...resource.meta, versionId: version } };
  return (await afterWriting(() => ehr.client.read<R>(referenceTo(resource)))) ?? resource;
}
