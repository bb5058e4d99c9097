import { anySlotOrSchedule, noVersion, type Proof, proofOfRejection } from '../../check/proofs.ts';
import { canChangeAppointments, type ServerFacts } from '../../server/capability-statement.ts';
import type { FhirClient } from '../../server/client.ts';
import { type FhirConnection, withOperationLookup } from '../../server/connection.ts';
import type { Booking, BookingCapabilities } from '../booking.ts';
import { bookingBySlots, slotChanges } from '../slots/booking-by-slots.ts';
import { finishSlotsOf } from '../slots/sweep.ts';
import { resultsWithoutDuplicates } from './duplicates.ts';
import { runSlotClaims } from './steps.ts';
import { freeUnusedClaims } from './unused-claims.ts';

/**
 * Books one resource after the other, for a server without transactions: each Slot is claimed by a PUT under `If-Match`,
 * then the Appointment is written, then the Slots that it leaves are freed.
 *
 * For example, confirming a held appointment:
 *
 * 1. `GET Appointment/<id>`. It has to be `pending` with our `held-until` extension (`changes/read.ts`), and becomes
 *    `booked` (`changes/rules.ts`).
 * 2. `GET Slot` for its slots, or get them in the response to 1. Each has to be `busy-tentative` with a claim of this
 *    appointment, or free again, and becomes `busy` (`slots/plan.ts`, `slots/place.ts`).
 * 3. `PUT` each Slot as `busy` under the version that was read, with a claim that ends in two minutes (`claim.ts`). If
 *    the server rejects one, somebody was faster: the other claims are given back, and the write starts again at 1.
 * 4. `PUT` the Appointment as `booked`, or `PATCH` it, under the version that was read.
 *
 * If 3 or 4 gets no response, the Slot or the Appointment is read again (`claim.ts`, `steps.ts`). If that does not show
 * what was done, the outcome is unknown and the claims stay.
 *
 * If a claim cannot be given back, the outcome is unknown too. The look-up of the operation frees the claims when they
 * have ended, and only then finds nothing (`unused-claims.ts`).
 *
 * A gateway that dies after 3 leaves a `busy` Slot with a claim. When the claim has ended, the next listing looks for an
 * appointment that needs the Slot (`time-slots/abandoned-slots.ts`). If there is none, the listing frees the Slot
 * (`slots/sweep.ts`).
 *
 * A repeated call runs beside or after another one that may have done 3 or 4. Its step 3 writes `busy-tentative`. A
 * step 5 writes `busy`, under the version of step 3. The `PUT` of step 5 shows both calls who was last (`duplicates.ts`). On
 * a server that cannot search for appointments by Slot, every call does so. A Slot that is left `busy-tentative` is
 * finished by the next look-up of the operation, or by a listing after the claim has ended.
 */
export function slotClaimBooking(connection: FhirConnection, facts: ServerFacts): Booking {
  const ehr = withOperationLookup(connection, true);
  const capabilities: BookingCapabilities = {
    changes: slotChanges(canChangeAppointments(facts), ehr.settings),
    transactions: false,
    // A server may ignore `If-None-Exist`, and the connector cannot detect that.
    repeatsLateWrites: ehr.operationLookup,
  };
  const findDone = async (operationId: string) => {
    const found = await resultsWithoutDuplicates(ehr, operationId);
    await finishSlotsOf(ehr, found, operationId);
    return found;
  };
  // Otherwise nobody could tell that a `busy` Slot was left by a gateway that died.
  const canWriteSlotsOnce = ehr.operationLookup && facts.searchesBySlot;
  return bookingBySlots(ehr, facts, {
    capabilities,
    findDone,
    cleanUp: (directory, undone) => freeUnusedClaims(ehr, directory, undone),
    execute: (plan, { isFirst, onNoResponse }) =>
      runSlotClaims(ehr, plan, { writesSlotsOnce: canWriteSlotsOnce && isFirst === true, onNoResponse }),
  });
}

/**
 * Proves that the server rejects a PUT under a version that is not the current one. The PUT writes the current content.
 */
export async function proveIfMatch(client: FhirClient): Promise<Proof> {
  const victim = await anySlotOrSchedule(client);
  if (!victim) return 'unproven';
  const response = await client.update(victim, { ifMatch: noVersion });
  return response.ok ? 'broken' : proofOfRejection(response, victim, (ifMatch) => client.update(victim, { ifMatch }));
}
