import type { CareUnitDirectory } from '../../directory/directory.ts';
import { type FhirAppointment, type FhirSlot, referenceTo } from '../../fhir.ts';
import { keepsSlots, slotsOf, standingOf } from '../../mappers/appointment.ts';
import { claimedSlot, claimOf, freedSlot, isClaimedBy, slotState } from '../../mappers/slot.ts';
import type { BookingConnection } from '../../server/connection.ts';
import { offerIn } from '../../slots/offer.ts';
import { isOwnerOf, ownerNames, slotOfOwner } from '../../slots/slot-owners.ts';
import { slotPath } from '../../slots/slot-path.ts';
import type { Draft, Drafted, NeededTime, SlotOutcome } from '../changes/drafts.ts';
import { placedAppointment } from '../changes/new-appointment.ts';
import { unavailableTime } from '../changes/unavailable-time.ts';
import { OperationInProgress, timeTaken } from '../write/outcomes.ts';

export interface PlannedSlot {
  readonly before: FhirSlot;
  readonly after: FhirSlot;
  /** The appointment that takes or leaves the slot. */
  readonly owner: string;
}

export interface PlaceContext {
  readonly ehr: BookingConnection;
  readonly directory: CareUnitDirectory;
  /** The slots that the appointments have, and all slots at the times that they need, by reference. */
  readonly slots: ReadonlyMap<string, FhirSlot>;
  /** The owners of expired claims, by slot. */
  readonly owners: ReadonlyMap<string, FhirAppointment>;
  /** Slots whose time an appointment takes, whatever their status is. */
  readonly occupied: ReadonlySet<string>;
  /** An active appointment that needs a slot that others leave or whose claim has expired. By slot. */
  readonly users: ReadonlyMap<string, FhirAppointment>;
  /** `busy` slots with a claim of the gateway that no appointment needs. */
  readonly abandoned: ReadonlySet<string>;
  /** Whether to take over slots that another call with this operation id has claimed. */
  readonly takeOver: boolean;
  /** By the EHR's clock: the moment at which `owners` was filled. */
  readonly now: Date;
}

export interface Placed {
  readonly slots: readonly PlannedSlot[];
  /** Expired holds that lose their slots. */
  readonly swept: readonly FhirAppointment[];
}

/**
 * Decides which slots each draft leaves, and which it takes. They may be the same.
 *
 * @throws ConnectorError `time_slot_unavailable`; OperationInProgress when another call with this operation id has claimed them
 */
export function placeDrafts(context: PlaceContext, { slotOutcomes, neededTimes }: Drafted): Placed {
  const planned = new Map<string, PlannedSlot>();
  const released = new Set<string>();
  for (const [draft, slotOutcome] of slotOutcomes) {
    for (const slot of leftBy(context, draft, slotOutcome)) {
      planned.set(referenceTo(slot.before), slot);
      if (slot.after.status === 'free') released.add(referenceTo(slot.before));
    }
  }

  const taken = new Set<string>();
  const swept = new Map<string, FhirAppointment>();
  for (const needed of neededTimes) {
    const { draft, resourceId, start, end, holdUntil } = needed;
    const path = pathFor(context, needed, { released, taken });
    for (const slot of path) {
      const reference = referenceTo(slot);
      taken.add(reference);
      const claim = { owner: draft.owner, until: holdUntil };
      const after = claimedSlot(slot, holdUntil ? 'busy-tentative' : 'busy', claim);
      planned.set(reference, { before: slot, after, owner: draft.owner });
      const owner = context.owners.get(reference);
      if (owner && standingOf(owner, context.now).hasExpired) swept.set(referenceTo(owner), owner);
    }
    draft.after = placedAppointment(draft.after, path, { start, end }, resourceId, context.directory);
  }
  return { slots: [...planned.values()], swept: [...swept.values()] };
}

/** What happens to the slots that an appointment has. */
function leftBy({ ehr, slots, users, now }: PlaceContext, draft: Draft, slotOutcome: SlotOutcome): PlannedSlot[] {
  const appointment = draft.before as FhirAppointment;
  return slotsOf(appointment).flatMap((reference): PlannedSlot[] => {
    const before = slots.get(reference);
    if (!before) return [];
    const isOurs = belongsTo(before, appointment, ehr, now);
    const owner = claimOf(before)?.owner ?? draft.owner;
    if (slotOutcome === 'finish') {
      const isTentative = isOurs && before.status === 'busy-tentative';
      return isTentative ? [{ before, after: claimedSlot(before, 'busy', { owner, until: null }), owner }] : [];
    }
    const user = users.get(reference);
    if (slotOutcome === 'free') {
      if (!isOurs) return [];
      return user ? handedOver(before, user, now) : [{ before, after: freedSlot(before), owner }];
    }
    if (!isOurs && before.status !== 'free') throw timeTaken();
    // The claim has expired, and staff have given its time to another patient.
    if (user && user.id !== appointment.id) throw timeTaken();
    const after =
      slotOutcome === 'book'
        ? claimedSlot(before, 'busy', { owner, until: null })
        : claimedSlot(before, 'busy-tentative', { owner, until: slotOutcome.holdUntil });
    return [{ before, after, owner }];
  });
}

/** The slot for another appointment that staff have booked in it. Without a claim of the gateway it is the staff's. */
function handedOver(before: FhirSlot, user: FhirAppointment, now: Date): PlannedSlot[] {
  const after = claimOf(before) && slotOfOwner(before, user, now);
  return after ? [{ before, after, owner: referenceTo(user) }] : [];
}

/** If the slot names another owner, another appointment has taken it. */
function belongsTo(slot: FhirSlot, appointment: FhirAppointment, ehr: BookingConnection, now: Date): boolean {
  if (slot.status !== 'busy' && slot.status !== 'busy-tentative') return false;
  const claim = claimOf(slot);
  if (claim === null || ownerNames(appointment).includes(claim.owner)) return true;
  // If the EHR does not keep operation ids, an active appointment owns its slots.
  return isOwnerOf(ehr, appointment, slot) && keepsSlots(appointment, now);
}

interface SoFar {
  readonly released: ReadonlySet<string>;
  readonly taken: ReadonlySet<string>;
}

/** Free slots without a gap, from the start to the end of the time. */
function pathFor(context: PlaceContext, needed: NeededTime, { released, taken }: SoFar): readonly FhirSlot[] {
  const { directory, slots, owners, occupied, users, abandoned, takeOver, now } = context;
  const { draft, resourceId, serviceId, start, end } = needed;
  const offered = [...slots.values()].filter((slot) => {
    const offer = offerIn(directory, slot);
    if (offer?.resourceId !== resourceId) return false;
    return serviceId === null || offer.services.some(({ id }) => id === serviceId);
  });
  const candidates = offered.filter((slot) => !taken.has(referenceTo(slot)));

  function isAvailable(slot: FhirSlot): boolean {
    const reference = referenceTo(slot);
    const state = slotState(slot, now);
    if (occupied.has(reference) || users.has(reference)) return false;
    if (state === 'free' || released.has(reference) || abandoned.has(reference)) return true;
    if (isClaimedBy(slot, draft.owner) && (draft.before !== null || takeOver)) return true;
    if (state !== 'expired') return false;
    const owner = owners.get(reference);
    return !owner || !keepsSlots(owner, now) || !slotsOf(owner).includes(reference);
  }

  // The start of a slot is a time of day, so the gateway's clock decides.
  if (start.getTime() <= Date.now()) throw timeTaken();
  const path = slotPath(candidates.filter(isAvailable), { start, end });
  if (path) return path;
  const isUnderWay = candidates.some((slot) => claimOf(slot)?.owner === draft.owner && slot.status !== 'free');
  if (isUnderWay && draft.before === null) throw new OperationInProgress();
  throw unavailableTime(offered, { start, end });
}
