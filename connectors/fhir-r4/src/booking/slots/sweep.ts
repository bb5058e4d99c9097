import { type FhirAppointment, type FhirSlot, referenceTo } from '../../fhir.ts';
import { slotsOf, standingOf } from '../../mappers/appointment.ts';
import { claimOf, freedSlot, slotState } from '../../mappers/slot.ts';
import type { BookingConnection } from '../../server/connection.ts';
import { slotOfOwner } from '../../slots/slot-owners.ts';
import type { Leftover } from '../../slots/slot-times.ts';
import { operationKeys } from '../operation-ids.ts';
import { versionOf } from '../write/appointment.ts';
import { quietly } from '../write/outcomes.ts';

/** The maximum number of slots written by one listing. The next listing writes the rest. */
const atOnce = 20;

/**
 * Writes the final state of slots whose claim has ended, so that the staff see it too: `busy` if the owner is booked,
 * otherwise `free`. Its caller has looked the owner up, after the claim had ended; a claim that has not ended is not
 * touched, because its write may still be in progress. Each Slot is written under the version that was read, so a write
 * that has taken it meanwhile wins.
 */
export async function sweep(ehr: BookingConnection, leftovers: readonly Leftover[]): Promise<void> {
  const now = ehr.client.clock.now();
  const changes = leftovers.flatMap(({ slot, owner }) => {
    const isClaimed = slot.status === 'busy' || slotState(slot, now) === 'expired';
    const after = isClaimed ? finalState(slot, owner, now) : null;
    return after ? [{ slot, after }] : [];
  });
  await Promise.all(changes.slice(0, atOnce).map(({ slot, after }) => write(ehr, slot, after)));
}

/**
 * Finishes the slots of appointments whose write was interrupted between the Appointment and its Slots. The write is
 * done, so no slot is freed.
 *
 * @param operationId the write, which may own the claims
 */
export async function finishSlotsOf(
  ehr: BookingConnection,
  appointments: readonly FhirAppointment[],
  operationId: string,
): Promise<void> {
  const now = ehr.client.clock.now();
  const active = appointments.filter((it) => standingOf(it, now).state !== 'cancelled');
  if (active.length === 0) return;
  const slots = await ehr.client.readMany<FhirSlot>(active.flatMap(slotsOf));
  for (const slot of slots) {
    const owner = active.find((it) => slotsOf(it).includes(referenceTo(slot)));
    const claimant = claimOf(slot)?.owner;
    if (slot.status !== 'busy-tentative' || !owner || claimant === undefined) continue;
    const names = [referenceTo(owner), ...operationKeys(owner)];
    if (claimant.split('.')[0] !== operationId && !names.includes(claimant)) continue;
    const after = finalState(slot, owner, now);
    if (after) await write(ehr, slot, after);
  }
}

/** `null`: the slot is as it should be. */
function finalState(slot: FhirSlot, owner: FhirAppointment | undefined, now: Date): FhirSlot | null {
  return owner ? slotOfOwner(slot, owner, now) : freedSlot(slot);
}

async function write({ client }: BookingConnection, slot: FhirSlot, after: FhirSlot): Promise<void> {
  await quietly(async () => client.update(after, { ifMatch: versionOf(slot) }));
}
