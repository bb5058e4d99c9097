import { type FhirAppointment, type FhirSlot, referenceTo } from '../fhir.ts';
import { keepsSlots, standingOf } from '../mappers/appointment.ts';
import { readInstant } from '../mappers/instants.ts';
import { claimOf } from '../mappers/slot.ts';
import type { BookingConnection } from '../server/connection.ts';
import { isOwnerOf, namesAppointment, ownersOf } from './slot-owners.ts';
import { appointmentsNaming, keeps, takes } from './slot-users.ts';

/**
 * A search index may be behind for a moment. An owner that it does not return counts as deleted only after this time.
 */
const settlingMilliseconds = 120_000;

/**
 * The slots that are `busy` by a claim of the gateway and that no appointment needs: staff have cancelled or deleted
 * the owner, or the visit did not take place, without a change of the Slot. A slot that is `busy` without a claim
 * belongs to the staff.
 *
 * @param seen appointments that were read with the slots: a slot that one of them needs costs no request
 */
export async function abandonedSlots(
  ehr: BookingConnection,
  slots: readonly FhirSlot[],
  seen: readonly FhirAppointment[] = [],
): Promise<ReadonlySet<string>> {
  const now = ehr.client.clock.now();
  const isNeededIn = (appointments: Iterable<FhirAppointment>) => {
    const active = [...appointments].filter((it) => keepsSlots(it, now));
    return (slot: FhirSlot) =>
      active.some((it) => (isOwnerOf(ehr, it, slot) ? keeps(ehr, it, slot) : takes(it, slot, now)));
  };
  const isNeededBySeen = isNeededIn(seen);
  const doubtful = slots.filter((it) => it.status === 'busy' && claimOf(it) !== null && !isNeededBySeen(it));
  if (doubtful.length === 0) return new Set();
  const naming = await appointmentsNaming(ehr, doubtful);
  if (naming === null) return new Set();
  const isNeededByNaming = isNeededIn(naming);
  const unnamed = doubtful.filter((slot) => !isNeededByNaming(slot));
  const owners = await ownersOf(ehr, unnamed);
  const isNeededByOwner = isNeededIn(owners.values());
  const abandoned = unnamed.filter((slot) => {
    if (isNeededByOwner(slot)) return false;
    const { owner = '', until = null } = claimOf(slot) ?? {};
    const appointment = owners.get(referenceTo(slot));
    if (until) return until <= now || !mayBeInProgress(owner, appointment, now);
    const age = now.getTime() - (readInstant(slot.meta?.lastUpdated) ?? now).getTime();
    return appointment !== undefined || namesAppointment(owner) || age > settlingMilliseconds;
  });
  return new Set(abandoned.map(referenceTo));
}

/**
 * Whether the write that claimed a slot may still be in progress, although no appointment needs the slot: it creates the
 * appointment, moves it there, or confirms its expired hold.
 */
function mayBeInProgress(owner: string, appointment: FhirAppointment | undefined, now: Date): boolean {
  if (!appointment) return !namesAppointment(owner);
  const { state, hasExpired } = standingOf(appointment, now);
  return hasExpired || (namesAppointment(owner) && state !== 'cancelled');
}
