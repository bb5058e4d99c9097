import { setTimeout as pause } from 'node:timers/promises';
import { type FhirAppointment, type FhirSlot, referenceTo } from '../../fhir.ts';
import { slotsOf } from '../../mappers/appointment.ts';
import { claimOf, isClaimedBy } from '../../mappers/slot.ts';
import type { BookingConnection } from '../../server/connection.ts';
import { operationKeys, placesIn } from '../operation-ids.ts';
import { type PlannedAppointment, withdraw } from '../write/appointment.ts';
import { findOperationResources } from '../write/operation-results.ts';

/** How often the slots are read until the other call has finished, and the pause in between in milliseconds. */
const looks = 20;
const lookMilliseconds = 100;

/**
 * The appointments that an operation wrote. Two calls with one operation id can create two appointments on the same
 * slots, if a server ignores `If-None-Exist` and a create was still in progress when the other call took over. One is
 * kept: the appointment that the slots name, or one that has been changed since, or the first by id. The others, its
 * duplicates, are withdrawn; the slots do not change.
 */
export async function resultsWithoutDuplicates(
  ehr: BookingConnection,
  operationId: string,
): Promise<readonly FhirAppointment[]> {
  const found = await findOperationResources(ehr, operationId);
  const created = found.filter((it) => isCreatedAlone(it, operationId));
  const [first, another] = created;
  if (!first || !another) return found;
  const slots = await ehr.client.readMany<FhirSlot>(created.flatMap(slotsOf));
  const owners = new Map(slots.map((slot) => [referenceTo(slot), claimOf(slot)?.owner]));
  const named = new Set(owners.values());
  const hasChanged = (it: FhirAppointment) => wasChanged(it);
  const kept = created.find((it) => named.has(referenceTo(it))) ?? created.find(hasChanged) ?? first;
  const isDuplicate = (it: FhirAppointment) =>
    it !== kept &&
    !hasChanged(it) &&
    (hasChanged(kept) ||
      slotsOf(it).some((slot) => slotsOf(kept).includes(slot) || owners.get(slot) === referenceTo(kept)));
  const duplicates = created.filter(isDuplicate);
  for (const duplicate of duplicates) await withdraw(ehr, referenceTo(duplicate));
  return found.filter((it) => !duplicates.includes(it));
}

/** The appointments of a write with several changes have different identifiers. None of them is a duplicate. */
function isCreatedAlone(it: FhirAppointment, operationId: string): boolean {
  const [creation] = operationKeys(it);
  return creation === operationId && placesIn(it, operationId).length === 0;
}

/** Whether an appointment was changed after it was created: by a later write of the gateway, or by a cancellation. */
function wasChanged(it: FhirAppointment): boolean {
  return it.status === 'cancelled' || it.status === 'noshow' || operationKeys(it).length > 1;
}

/** Waits until the call that has the slots names its appointment on them, so that both calls return the same one. */
export async function keptAppointment(
  ehr: BookingConnection,
  { before, key }: PlannedAppointment,
  made: FhirAppointment,
): Promise<FhirAppointment> {
  if (before !== null || !ehr.operationLookup) return made;
  for (let look = 1; look <= looks; look++) {
    const slots = await ehr.client.readMany<FhirSlot>(slotsOf(made));
    if (!slots.some((slot) => isClaimedBy(slot, key))) break;
    await pause(lookMilliseconds);
  }
  return (await resultsWithoutDuplicates(ehr, key))[0] ?? made;
}
