import { chunks } from './client.ts';
import type { FhirConnection } from './connection.ts';
import { type FhirAppointment, type FhirSlot, referenceTo } from './fhir.ts';
import { escapeToken } from './identifiers.ts';
import { keepsSlots, slotsOf } from './mappers/appointment.ts';
import { claimOf } from './mappers/slot.ts';
import { operationKeys } from './operation-ids.ts';

/** The appointments that own the slots' claims, by slot. A claim may have no appointment: its write broke off. */
export async function ownersOf(
  ehr: FhirConnection,
  slots: readonly FhirSlot[],
): Promise<ReadonlyMap<string, FhirAppointment>> {
  const { client, dialect, operationLookup } = ehr;
  const owners = [...new Set(slots.flatMap((slot) => claimOf(slot)?.owner ?? []))];
  const keys = operationLookup ? owners.filter((owner) => !namesAppointment(owner)) : [];
  const [found, standing] = await Promise.all([
    Promise.all([
      client.readMany<FhirAppointment>(owners.filter(namesAppointment)),
      ...chunks(keys, 20).map((some) =>
        client.search<FhirAppointment>('Appointment', [
          ['identifier', some.map((key) => `${dialect.operationSystem}|${escapeToken(key)}`).join(',')],
        ]),
      ),
    ]),
    operationLookup ? new Map<string, FhirAppointment>() : standingIn(ehr, slots),
  ]);
  const byOwner = new Map(
    found
      .flat()
      .flatMap((appointment) => ownerNames(appointment, dialect.operationSystem).map((name) => [name, appointment])),
  );
  return new Map(
    slots.flatMap((slot) => {
      const appointment = byOwner.get(claimOf(slot)?.owner ?? '') ?? standing.get(referenceTo(slot));
      return appointment ? [[referenceTo(slot), appointment] as const] : [];
    }),
  );
}

/** By slot, the appointments that stand in it, where the EHR does not keep the name of the write that claimed it. */
async function standingIn(
  { client }: FhirConnection,
  slots: readonly FhirSlot[],
): Promise<ReadonlyMap<string, FhirAppointment>> {
  const claimed = slots.filter((slot) => !namesAppointment(claimOf(slot)?.owner ?? ''));
  const found = await Promise.all(
    chunks(claimed.map(referenceTo), 20).map((some) =>
      client.search<FhirAppointment>('Appointment', [['slot', some.join(',')]]),
    ),
  );
  const standing = found.flat().filter((it) => keepsSlots(it, client.clock.now()));
  return new Map(standing.flatMap((it) => slotsOf(it).map((slot) => [slot, it])));
}

/** Whether a claim's owner is an appointment, not a write. */
export function namesAppointment(owner: string): boolean {
  return owner.startsWith('Appointment/');
}

/** The slots whose owner still wants them, though the claim has run out. */
export async function livingOwners(
  ehr: FhirConnection,
  slots: readonly FhirSlot[],
  now: Date,
): Promise<ReadonlySet<string>> {
  if (slots.length === 0) return new Set();
  const owners = await ownersOf(ehr, slots);
  return new Set(
    [...owners].flatMap(([slot, owner]) => (keepsSlots(owner, now) && slotsOf(owner).includes(slot) ? [slot] : [])),
  );
}

/** All names under which an appointment may own a slot. */
export function ownerNames(appointment: FhirAppointment, operationSystem: string): string[] {
  return [referenceTo(appointment), ...operationKeys(appointment, operationSystem)];
}
