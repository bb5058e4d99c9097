import type { Extension, FhirSlot } from '../fhir.ts';
import { readInstant } from './instants.ts';

/**
 * The claim that the connector writes on a slot that it takes: the owner, and when the claim or hold expires. The owner
 * is an operation id or `Appointment/<id>`. After the claim has expired, the slot is taken only if the owner's
 * appointment still needs it.
 */
export interface Claim {
  readonly owner: string;
  /** `null`: it does not expire. */
  readonly until: Date | null;
}

const claimUrl = 'urn:crossward:slot-claim';

export type SlotState =
  | 'free'
  /** Taken by the EHR's staff, or by a claim that has not expired. */
  | 'taken'
  /** Claimed or held by the gateway, and the claim has expired. */
  | 'expired';

/** https://hl7.org/fhir/R4/valueset-slotstatus.html */
export function slotState(slot: FhirSlot, now: Date): SlotState {
  if (slot.status === 'free') return 'free';
  if (slot.status !== 'busy-tentative') return 'taken';
  const until = claimOf(slot)?.until;
  return until && until <= now ? 'expired' : 'taken';
}

export function claimOf(slot: FhirSlot): Claim | null {
  const parts = slot.extension?.find(({ url }) => url === claimUrl)?.extension ?? [];
  const owner = parts.find(({ url }) => url === 'owner')?.valueString;
  const until = parts.find(({ url }) => url === 'until')?.valueInstant;
  return owner === undefined ? null : { owner, until: readInstant(until) ?? null };
}

/**
 * Whether a write has claimed a slot for this owner and did not record that it was done. A `busy` slot whose claim does
 * not end belongs to a write that was done.
 */
export function isClaimedBy(slot: FhirSlot, owner: string): boolean {
  const claim = claimOf(slot);
  if (claim?.owner !== owner) return false;
  return slot.status === 'busy-tentative' || (slot.status === 'busy' && claim.until !== null);
}

export function claimedSlot(slot: FhirSlot, status: 'busy' | 'busy-tentative', { owner, until }: Claim): FhirSlot {
  const parts: Extension[] = [
    { url: 'owner', valueString: owner },
    ...(until ? [{ url: 'until', valueInstant: until.toISOString() }] : []),
  ];
  return { ...slot, status, extension: [...otherExtensions(slot), { url: claimUrl, extension: parts }] };
}

const removedUrl = 'urn:crossward:slot-removed';

/** A slot that its schedule no longer has, and the operation that took it out. It is kept, so that it can be given back. */
export function removedSlot(slot: FhirSlot, operationId: string): FhirSlot {
  const removal = { url: removedUrl, valueString: operationId };
  return { ...slot, status: 'busy-unavailable', extension: [...otherExtensions(slot), removal] };
}

/** The operation that took the slot out of its schedule. */
export function removerOf(slot: FhirSlot): string | undefined {
  return slot.extension?.find(({ url }) => url === removedUrl)?.valueString;
}

export function freedSlot(slot: FhirSlot): FhirSlot {
  const { extension: _, ...rest } = slot;
  const others = otherExtensions(slot);
  return { ...rest, status: 'free', ...(others.length > 0 ? { extension: others } : {}) };
}

function otherExtensions(slot: FhirSlot): Extension[] {
  return (slot.extension ?? []).filter(({ url }) => url !== claimUrl && url !== removedUrl);
}

/** `null` for a slot without a valid start and end. A time without an offset is not valid. */
export function slotTime(slot: FhirSlot): { readonly start: Date; readonly end: Date } | null {
  const [start, end] = [readInstant(slot.start), readInstant(slot.end)];
  return start && end && start < end ? { start, end } : null;
}
