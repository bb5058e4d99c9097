import { canChangeAppointments, type ServerFacts } from '../../../capability-statement.ts';
import { type FhirConnection, withOperationLookup } from '../../../connection.ts';
import { listTimeSlots } from '../../../time-slots/list.ts';
import { slotTimes } from '../../../time-slots/slot-times.ts';
import { assertSupported, type Booking, type BookingCapabilities } from '../../booking.ts';
import { changeAppointments } from '../../write/attempts.ts';
import { operationFinder } from '../../write/operation-results.ts';
import { slotChanges } from '../changes.ts';
import { inOrderOfChanges, planWrite } from '../plan.ts';
import { readAhead } from '../read-ahead.ts';
import { finishSlotsOf, sweep } from '../sweep.ts';
import { runSlotClaims } from './steps.ts';
import { resultsWithoutTwins } from './twins.ts';

/**
 * Books one resource after the other, for a server without transactions: each Slot is claimed by a PUT under `If-Match`,
 * then the Appointment is written, then each Slot gets its final state.
 *
 * For example, confirming a held appointment:
 *
 * 1. `GET Appointment/<id>`. It has to be `pending` with our `held-until` extension (`changes/read.ts`), and becomes
 *    `booked` (`changes/rules.ts`).
 * 2. `GET Slot` for its slots. Each has to be `busy-tentative` with this appointment as the owner of its claim, and
 *    becomes `busy` (`slots/plan.ts`, `slots/place.ts`).
 * 3. `PUT` each Slot as `busy-tentative` under the version that was read, with a claim that ends in two minutes
 *    (`steps.ts`). A server that refuses one means that somebody was faster: the other claims are given back, and the
 *    write starts again at 1.
 * 4. `PUT` the Appointment as `booked`, or `PATCH` it, under the version that was read.
 * 5. `PUT` each Slot as `busy` under the version of step 3.
 *
 * A gateway that dies after 3 leaves claims that expire. One that dies after 4 leaves Slots that are `busy-tentative`:
 * their claim expires, and they stay taken because their owner is booked (`time-slots/slot-owners.ts`). The retry or the
 * reconciliation, which looks the operation up, finishes them; so does the next listing after the claim has ended
 * (`slots/sweep.ts`). The same listing frees the Slots of a write that died after 3.
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
    const found = await resultsWithoutTwins(ehr, operationId);
    await finishSlotsOf(ehr, found, operationId);
    return found;
  };
  const ahead = readAhead(ehr, facts.includesSlots);
  return {
    capabilities,
    timesAreSlots: true,
    listTimeSlots: (query) =>
      listTimeSlots(ehr, query, slotTimes(ehr, { sweep: (leftovers) => sweep(ehr, leftovers) })),
    findAppointments: ahead.findAppointments,
    ...operationFinder(ehr, findDone),
    async changeAppointments(write) {
      assertSupported(capabilities, write);
      return changeAppointments(ehr, write, {
        findDone: ehr.operationLookup ? findDone : null,
        plan: (it, options) => planWrite(ehr, it, options, ahead),
        execute: async (plan) => inOrderOfChanges(plan, await runSlotClaims(ehr, plan, write.onNoResponse)),
      });
    },
  };
}
