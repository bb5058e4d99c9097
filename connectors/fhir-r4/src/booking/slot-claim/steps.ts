import { setTimeout as pause } from 'node:timers/promises';
import { compare, type FhirAppointment, type FhirSlot, referenceTo } from '../../fhir.ts';
import { claimedSlot, claimOf, isClaimedBy } from '../../mappers/slot.ts';
import type { BookingConnection } from '../../server/connection.ts';
import { operationKeys } from '../operation-ids.ts';
import type { PlannedSlot } from '../slots/place.ts';
import type { Plan } from '../slots/plan.ts';
import { type PlannedAppointment, versionOf, writeAppointment } from '../write/appointment.ts';
import { findOperationResources } from '../write/operation-results.ts';
import { afterWriting, FinalError, isUnknown, LostRace, quietly } from '../write/outcomes.ts';
import { claim, giveBack, hasSameClaim, put } from './claim.ts';
import { keptAppointment } from './duplicates.ts';

const creationAttempts = 10;

interface Claimed {
  readonly slot: PlannedSlot;
  readonly current: FhirSlot;
}

export interface ClaimOptions {
  /**
   * Whether each Slot is written once: no other call with this operation id is in progress, and the server can tell
   * whether an appointment needs a `busy` Slot.
   */
  readonly writesSlotsOnce: boolean;
  /** Called when a create got no response, or another call may have sent one: it may still be done. */
  readonly onNoResponse?: (() => void) | undefined;
}

/**
 * Executes a plan in three steps: claims each slot, writes the appointments, writes each slot's final state. Returns
 * the appointments in the plan's order.
 *
 * A claim is a PUT under the version that was read, so exactly one of several callers gets the slot. If the write is
 * interrupted after any step, the claim's expiry and the owner's appointment decide whether the slot is taken.
 *
 * With `writesSlotsOnce`, a claim is the final state of a slot that is taken, and a slot that is left is not claimed.
 *
 * @throws LostRace when another write was faster; FinalError `outcome_unknown` if nothing was written but claims stay
 */
export async function runSlotClaims(
  ehr: BookingConnection,
  plan: Plan,
  { writesSlotsOnce, onNoResponse = () => undefined }: ClaimOptions,
): Promise<readonly FhirAppointment[]> {
  const takesOver = plan.appointments.some(
    ({ before, key }) => before === null && plan.slots.some((slot) => isClaimedBy(slot.before, key)),
  );
  if (takesOver) onNoResponse();
  const once = writesSlotsOnce && !takesOver;
  const claimed: Claimed[] = [];
  const results: FhirAppointment[] = [];
  try {
    // All callers claim in the same order, so of two callers with the same slots, one gets them all.
    for (const slot of plan.slots.toSorted((a, b) => compare(referenceTo(a.before), referenceTo(b.before)))) {
      if (once && isSweptIfLeft(slot)) continue;
      claimed.push({ slot, current: await claim(ehr, slot, { isFinal: once }) });
    }
    for (const appointment of plan.appointments)
      results.push(await write(ehr, appointment, { takesOver, onNoResponse }));
  } catch (error) {
    // After an unknown outcome the claims stay: the appointment may exist.
    if (!isUnknown(error)) await giveAllBack(ehr, claimed);
    throw error;
  }
  if (once) await freeSlots(ehr, plan, claimed);
  const wasTakenOver = !once && (await finishSlots(ehr, plan, claimed, results));
  for (const { before, after } of plan.swept) await quietly(() => put(ehr, after, versionOf(before)));
  if (!takesOver && !wasTakenOver) return results;
  return afterWriting(() =>
    Promise.all(
      results.map((made, index) => keptAppointment(ehr, plan.appointments[index] as PlannedAppointment, made)),
    ),
  );
}

/**
 * @throws FinalError `outcome_unknown` if a claim stays: the operation remains open until a look-up has freed it. On a
 * server that does not keep operation ids there is no look-up, and the next listing frees it.
 */
async function giveAllBack(ehr: BookingConnection, claimed: readonly Claimed[]): Promise<void> {
  let isLeft = false;
  for (const it of claimed) isLeft = !(await giveBack(ehr, it)) || isLeft;
  if (isLeft && ehr.operationLookup) throw new FinalError('outcome_unknown', 'The EHR did not free the claimed Slots');
}

/** A slot that its appointment leaves, with a claim of ours: if the gateway dies before it is freed, a listing frees it. */
function isSweptIfLeft({ before, after }: PlannedSlot): boolean {
  return after.status === 'free' && claimOf(before) !== null;
}

/** Frees the slots that appointments have left. The others have their final state. */
async function freeSlots(ehr: BookingConnection, plan: Plan, claimed: readonly Claimed[]): Promise<void> {
  for (const slot of plan.slots) {
    if (slot.after.status !== 'free') continue;
    const { current = slot.before } = claimed.find((it) => it.slot === slot) ?? {};
    await quietly(() => put(ehr, slot.after, versionOf(current)));
  }
}

/** @returns whether another call with the same operation id has written one of the slots meanwhile */
async function finishSlots(
  ehr: BookingConnection,
  plan: Plan,
  claimed: readonly Claimed[],
  results: readonly FhirAppointment[],
): Promise<boolean> {
  let wasTakenOver = false;
  for (const { slot, current } of claimed) {
    const last = finalState(slot, plan, results);
    if (hasSameClaim(last, current)) continue;
    await quietly(async () => {
      await put(ehr, last, versionOf(current)).catch((error: unknown) => {
        wasTakenOver ||= error instanceof LostRace;
        throw error;
      });
    });
  }
  return wasTakenOver;
}

/** The final state of a slot. Its owner is now the created appointment instead of the operation. */
function finalState(
  { after, owner }: PlannedSlot,
  { appointments }: Plan,
  results: readonly FhirAppointment[],
): FhirSlot {
  const made = results[appointments.findIndex(({ before, key }) => before === null && key === owner)];
  const ours = claimOf(after);
  if (!made || !ours || (after.status !== 'busy' && after.status !== 'busy-tentative')) return after;
  return claimedSlot(after, after.status, { ...ours, owner: referenceTo(made) });
}

async function write(
  ehr: BookingConnection,
  planned: PlannedAppointment,
  { takesOver, onNoResponse }: { readonly takesOver: boolean; readonly onNoResponse: () => void },
): Promise<FhirAppointment> {
  // The other call may have created it since the look-up.
  const done = takesOver ? await readBack(ehr, planned) : null;
  if (done) return done;
  for (let attempt = 1; ; attempt++) {
    try {
      return await writeAppointment(ehr, planned);
    } catch (error) {
      // This call has the slots, so the create conflicted with one at another time, in a serializable database.
      if (error instanceof LostRace && planned.before === null && attempt < creationAttempts) {
        await pause(Math.random() * 40 * attempt);
        continue;
      }
      if (!isUnknown(error)) throw error;
      if (planned.before === null) onNoResponse();
      const found = await afterWriting(() => readBack(ehr, planned));
      if (found) return found;
      throw error;
    }
  }
}

/** Looks up whether a write without a response was done. `null`: it was not found. */
async function readBack(ehr: BookingConnection, { before, key }: PlannedAppointment): Promise<FhirAppointment | null> {
  if (!ehr.operationLookup) return null;
  if (before === null) return (await findOperationResources(ehr, key))[0] ?? null;
  const current = await ehr.client.read<FhirAppointment>(referenceTo(before));
  return current && operationKeys(current).includes(key) ? current : null;
}
