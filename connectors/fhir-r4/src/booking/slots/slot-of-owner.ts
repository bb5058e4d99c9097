import { type FhirAppointment, type FhirSlot, referenceTo } from '../../fhir.ts';
import { standingOf } from '../../mappers/appointment.ts';
import { claimedSlot, claimOf } from '../../mappers/slot.ts';

/** A slot with the claim of the appointment that needs it. `null`: it is as it should be. */
export function slotOfOwner(slot: FhirSlot, owner: FhirAppointment, now: Date): FhirSlot | null {
  const { state, heldUntil } = standingOf(owner, now);
  if (state === 'booked') return claimedSlot(slot, 'busy', { owner: referenceTo(owner), until: null });
  if (state !== 'held') return null;
  const claim = claimOf(slot);
  const isFinal = claim?.owner === referenceTo(owner) && claim.until?.getTime() === heldUntil?.getTime();
  return isFinal ? null : claimedSlot(slot, 'busy-tentative', { owner: referenceTo(owner), until: heldUntil });
}
