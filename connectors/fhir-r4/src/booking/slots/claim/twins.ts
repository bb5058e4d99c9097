import { setTimeout as pause } from 'node:timers/promises';
import type { BookingConnection } from '../../../connection.ts';
import { type FhirAppointment, type FhirSlot, referenceTo } from '../../../fhir.ts';
import { keepsSlots, slotsOf } from '../../../mappers/appointment.ts';
import { claimOf } from '../../../mappers/slot.ts';
import { placesIn } from '../../../operation-ids.ts';
import type { PlannedAppointment } from '../../write/appointment.ts';
import { findOperationResources } from '../../write/operation-results.ts';
import { withdraw } from '../../write/withdraw.ts';
import { isClaimedBy } from './claim.ts';

/** How often, and with how many milliseconds between, the slots are read until the other call has finished. */
const looks = 20;
const lookMilliseconds = 100;

/**
 * What an operation wrote. Two calls with one operation id can leave two appointments on the same slots, where a server
 * ignores `If-None-Exist` and a create was still in progress when the other call took over. The appointment that the
 * slots name is kept, or the first by id. The other, its twin, is withdrawn; the slots stay as they are.
 */
export async function resultsWithoutTwins(
  ehr: BookingConnection,
  operationId: string,
): Promise<readonly FhirAppointment[]> {
  const found = await findOperationResources(ehr, operationId);
  const now = ehr.client.clock.now();
  // The appointments of a write with several changes have a place each. None of them is a twin.
  const isSingle = (it: FhirAppointment) => placesIn(it, ehr.dialect.operationSystem, operationId).length === 0;
  const active = found.filter((it) => keepsSlots(it, now) && isSingle(it));
  const [first, another] = active;
  if (!first || !another) return found;
  const slots = await ehr.client.readMany<FhirSlot>(active.flatMap(slotsOf));
  const named = new Set(slots.map((slot) => claimOf(slot)?.owner));
  const kept = active.find((it) => named.has(referenceTo(it))) ?? first;
  const twins = active.filter((it) => it !== kept && slotsOf(it).some((slot) => slotsOf(kept).includes(slot)));
  for (const twin of twins) await withdraw(ehr, referenceTo(twin));
  return found.filter((it) => !twins.includes(it));
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
  return (await resultsWithoutTwins(ehr, key))[0] ?? made;
}
