import { chunks } from './client.ts';
import type { FhirConnection } from './connection.ts';
import { type FhirAppointment, type FhirSlot, referenceTo } from './fhir.ts';
import { escapeToken } from './identifiers.ts';
import { keepsSlots, slotsOf } from './mappers/appointment.ts';
import { claimOf } from './mappers/slot.ts';
import { operationKeys } from './operation-ids.ts';

/** The appointments that own the slots' claims, by slot. A claim may have no appointment: its write broke off. */
export async function ownersOf(
  { client, dialect }: FhirConnection,
  slots: readonly FhirSlot[],
): Promise<ReadonlyMap<string, FhirAppointment>> {
  const owners = [...new Set(slots.flatMap((slot) => claimOf(slot)?.owner ?? []))];
  const references = owners.filter((owner) => owner.startsWith('Appointment/'));
  const keys = owners.filter((owner) => !owner.startsWith('Appointment/'));
  const found = await Promise.all([
    client.readMany<FhirAppointment>(references),
    ...chunks(keys, 20).map((some) =>
      client.search<FhirAppointment>('Appointment', [
        ['identifier', some.map((key) => `${dialect.operationSystem}|${escapeToken(key)}`).join(',')],
      ]),
    ),
  ]);
  const byOwner = new Map(
    found
      .flat()
      .flatMap((appointment) => ownerNames(appointment, dialect.operationSystem).map((name) => [name, appointment])),
  );
  return new Map(
    slots.flatMap((slot) => {
      const appointment = byOwner.get(claimOf(slot)?.owner ?? '');
      return appointment ? [[referenceTo(slot), appointment] as const] : [];
    }),
  );
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
