import type { FhirConnection } from '../connection.ts';
import { type CareUnitDirectory, unknownService } from '../directory.ts';
import { type FhirAppointment, type FhirSlot, referenceTo } from '../fhir.ts';
import { keepsSlots, slotsOf, standingOf } from '../mappers/appointment.ts';
import { claimedSlot, claimOf, freedSlot, slotState } from '../mappers/slot.ts';
import { namesAppointment, ownerNames } from '../slot-owners.ts';
import type { Draft, Drafted, Fate, Wish } from './drafts.ts';
import { timeTaken, UnderWay } from './lost-race.ts';
import { placedAppointment } from './new-appointment.ts';
import { slotPath } from './slot-path.ts';

export interface PlannedSlot {
  readonly before: FhirSlot;
  readonly after: FhirSlot;
  /** Who takes it, or gives it up. */
  readonly owner: string;
}

interface Scene {
  readonly ehr: FhirConnection;
  readonly directory: CareUnitDirectory;
  /** All that the appointments have, and all at the times that they want, by reference. */
  readonly slots: ReadonlyMap<string, FhirSlot>;
  /** The appointments behind claims that have run out, by slot. */
  readonly owners: ReadonlyMap<string, FhirAppointment>;
  /** Whether slots claimed by another call with this operation id may be taken over. */
  readonly takeOver: boolean;
  /** By the EHR's clock: the same as when it was seen which claims have run out. */
  readonly now: Date;
}

export interface Placed {
  readonly slots: readonly PlannedSlot[];
  /** Holds that have run out and lose their slots. */
  readonly swept: readonly FhirAppointment[];
}

/**
 * Gives every draft its slots: those that it leaves, then those that it wants, which may be the same.
 *
 * @throws ConnectorError `time_slot_unavailable`; UnderWay when another call with this operation id has claimed them
 */
export function placeDrafts(scene: Scene, { fates, wishes }: Drafted): Placed {
  const planned = new Map<string, PlannedSlot>();
  const released = new Set<string>();
  for (const [draft, fate] of fates) {
    for (const slot of leftBy(scene, draft, fate)) {
      planned.set(referenceTo(slot.before), slot);
      if (fate === 'free') released.add(referenceTo(slot.before));
    }
  }

  const taken = new Set<string>();
  const swept = new Map<string, FhirAppointment>();
  for (const wish of wishes) {
    const { draft, resourceId, start, end, holdUntil } = wish;
    const path = pathFor(scene, wish, { released, taken });
    for (const slot of path) {
      const reference = referenceTo(slot);
      taken.add(reference);
      const claim = { owner: draft.owner, until: holdUntil };
      const after = claimedSlot(slot, holdUntil ? 'busy-tentative' : 'busy', claim);
      planned.set(reference, { before: slot, after, owner: draft.owner });
      const owner = scene.owners.get(reference);
      if (owner && standingOf(owner, scene.now).hasRunOut) swept.set(referenceTo(owner), owner);
    }
    draft.after = placedAppointment(draft.after, path, { start, end }, resourceId, scene.directory);
  }
  return { slots: [...planned.values()], swept: [...swept.values()] };
}

/** What becomes of the slots that an appointment has. */
function leftBy({ ehr, slots, now }: Scene, draft: Draft, fate: Fate): PlannedSlot[] {
  const appointment = draft.before as FhirAppointment;
  return slotsOf(appointment).flatMap((reference): PlannedSlot[] => {
    const before = slots.get(reference);
    if (!before) return [];
    const isOurs = belongsTo(before, appointment, ehr, now);
    const owner = claimOf(before)?.owner ?? draft.owner;
    if (fate === 'free') return isOurs ? [{ before, after: freedSlot(before), owner }] : [];
    if (!isOurs && before.status !== 'free') throw timeTaken();
    const after =
      fate === 'book'
        ? claimedSlot(before, 'busy', { owner, until: null })
        : claimedSlot(before, 'busy-tentative', { owner, until: fate.holdUntil });
    return [{ before, after, owner }];
  });
}

/** A slot that names another owner was taken by somebody else meanwhile. */
function belongsTo(slot: FhirSlot, appointment: FhirAppointment, ehr: FhirConnection, now: Date): boolean {
  if (slot.status !== 'busy' && slot.status !== 'busy-tentative') return false;
  const claim = claimOf(slot);
  if (claim === null || ownerNames(appointment, ehr.dialect.operationSystem).includes(claim.owner)) return true;
  // Where the EHR keeps no names of writes, a slot of an appointment that stands is its own.
  return !ehr.operationLookup && !namesAppointment(claim.owner) && keepsSlots(appointment, now);
}

interface SoFar {
  readonly released: ReadonlySet<string>;
  readonly taken: ReadonlySet<string>;
}

/** Free slots without a gap, from the start to the end of what is wanted. */
function pathFor(scene: Scene, wish: Wish, { released, taken }: SoFar): readonly FhirSlot[] {
  const { directory, slots, owners, takeOver, now } = scene;
  const { draft, resourceId, serviceId, start, end } = wish;
  const candidates = [...slots.values()].filter((slot) => {
    const offer = directory.offerOf(slot);
    if (taken.has(referenceTo(slot)) || offer?.resourceId !== resourceId) return false;
    return serviceId === unknownService || offer.services.some(({ id }) => id === serviceId);
  });

  function isAvailable(slot: FhirSlot): boolean {
    const reference = referenceTo(slot);
    const state = slotState(slot, now);
    if (state === 'free' || released.has(reference)) return true;
    const isClaimedByUs = slot.status === 'busy-tentative' && claimOf(slot)?.owner === draft.owner;
    if (isClaimedByUs && (draft.before !== null || takeOver)) return true;
    if (state !== 'run_out') return false;
    const owner = owners.get(reference);
    return !owner || !keepsSlots(owner, now) || !slotsOf(owner).includes(reference);
  }

  // When a time begins is a time of day, and goes by our own clock.
  if (start.getTime() <= Date.now()) throw timeTaken();
  const path = slotPath(candidates.filter(isAvailable), { start, end });
  if (path) return path;
  const isUnderWay = candidates.some((slot) => claimOf(slot)?.owner === draft.owner && slot.status !== 'free');
  if (isUnderWay && draft.before === null) throw new UnderWay();
  throw timeTaken();
}
