import { operationKeys, operationSystem } from '../booking/operation-ids.ts';
import type { CareUnitDirectory } from '../directory/directory.ts';
import { type FhirAppointment, type FhirSlot, referenceTo } from '../fhir.ts';
import { keepsSlots, slotsOf, standingOf } from '../mappers/appointment.ts';
import { escapeToken } from '../mappers/identifiers.ts';
import { claimedSlot, claimOf } from '../mappers/slot.ts';
import { chunks } from '../server/chunks.ts';
import type { BookingConnection } from '../server/connection.ts';
import { slotUsers } from './slot-users.ts';

/** The appointments that own the slots' claims, by slot. A claim of an interrupted write may have no appointment. */
export async function ownersOf(
  ehr: BookingConnection,
  slots: readonly FhirSlot[],
): Promise<ReadonlyMap<string, FhirAppointment>> {
  if (slots.length === 0) return new Map();
  const { client, operationLookup } = ehr;
  const owners = [...new Set(slots.flatMap((slot) => claimOf(slot)?.owner ?? []))];
  const keys = operationLookup ? owners.filter((owner) => !namesAppointment(owner)) : [];
  const [found, active] = await Promise.all([
    Promise.all([
      client.readMany<FhirAppointment>(owners.filter(namesAppointment)),
      ...chunks(keys, 20).map((some) =>
        client.search<FhirAppointment>('Appointment', [
          ['identifier', some.map((key) => `${operationSystem}|${escapeToken(key)}`).join(',')],
        ]),
      ),
    ]),
    operationLookup ? new Map<string, FhirAppointment>() : appointmentsIn(ehr, slots),
  ]);
  const byOwner = new Map(
    found.flat().flatMap((appointment) => ownerNames(appointment).map((name) => [name, appointment])),
  );
  return new Map(
    slots.flatMap((slot) => {
      const appointment = byOwner.get(claimOf(slot)?.owner ?? '') ?? active.get(referenceTo(slot));
      return appointment ? [[referenceTo(slot), appointment] as const] : [];
    }),
  );
}

/** The appointments in these slots, by slot: for an EHR that does not keep the operation id of the write that claimed them. */
async function appointmentsIn(
  { client }: BookingConnection,
  slots: readonly FhirSlot[],
): Promise<ReadonlyMap<string, FhirAppointment>> {
  const claimed = slots.filter((slot) => !namesAppointment(claimOf(slot)?.owner ?? ''));
  const found = await Promise.all(
    chunks(claimed.map(referenceTo), 20).map((some) =>
      client.search<FhirAppointment>('Appointment', [['slot', some.join(',')]]),
    ),
  );
  const active = found.flat().filter((it) => keepsSlots(it, client.clock.now()));
  return new Map(active.flatMap((it) => slotsOf(it).map((slot) => [slot, it])));
}

/** Whether a claim's owner is an appointment, not a write. */
export function namesAppointment(owner: string): boolean {
  return owner.startsWith('Appointment/');
}

/**
 * The appointments that need slots whose claim has expired: the owner of the claim, or one that staff have booked in its place.
 * Key: the slot.
 *
 * @param owners of the expired claims
 */
export async function livingOwners(
  ehr: BookingConnection,
  directory: CareUnitDirectory,
  expired: readonly FhirSlot[],
  owners: ReadonlyMap<string, FhirAppointment>,
): Promise<ReadonlyMap<string, FhirAppointment>> {
  const now = ehr.client.clock.now();
  const living = new Map([...owners].filter(([slot, it]) => keepsSlots(it, now) && slotsOf(it).includes(slot)));
  const others = expired.filter((slot) => !living.has(referenceTo(slot)));
  return new Map([...living, ...(await slotUsers(ehr, directory, others, new Set()))]);
}

/** Whether an appointment is the owner that a slot's claim names, or may be, if the EHR does not keep operation ids. */
export function isOwnerOf(
  { operationLookup }: BookingConnection,
  appointment: FhirAppointment,
  slot: FhirSlot,
): boolean {
  const { owner = '' } = claimOf(slot) ?? {};
  if (ownerNames(appointment).includes(owner)) return true;
  return !operationLookup && !namesAppointment(owner);
}

/** All names that an appointment may have as the owner of a slot. */
export function ownerNames(appointment: FhirAppointment): string[] {
  return [referenceTo(appointment), ...operationKeys(appointment)];
}

/** A slot with the claim of the appointment that needs it. `null`: it is as it should be. */
export function slotOfOwner(slot: FhirSlot, owner: FhirAppointment, now: Date): FhirSlot | null {
  const { state, heldUntil } = standingOf(owner, now);
  if (state === 'booked') return claimedSlot(slot, 'busy', { owner: referenceTo(owner), until: null });
  if (state !== 'held') return null;
  const claim = claimOf(slot);
  const isFinal = claim?.owner === referenceTo(owner) && claim.until?.getTime() === heldUntil?.getTime();
  return isFinal ? null : claimedSlot(slot, 'busy-tentative', { owner: referenceTo(owner), until: heldUntil });
}
