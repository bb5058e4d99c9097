import type { ServerFacts } from '../../../capability-statement.ts';
import { type FhirConnection, withOperationLookup } from '../../../connection.ts';
import { type FhirSettings, resourcesPerChange } from '../../../settings.ts';
import { listTimeSlots } from '../../../time-slots/list.ts';
import { slotTimes } from '../../../time-slots/slot-times.ts';
import { assertSupported, type Booking, type BookingCapabilities } from '../../booking.ts';
import { changeAppointments } from '../../write/attempts.ts';
import { findOperationResources, operationFinder } from '../../write/operation-results.ts';
import { slotChanges } from '../changes.ts';
import { intendedBookings } from '../intended-bookings.ts';
import { inOrderOfChanges, planWrite } from '../plan.ts';
import { readAhead } from '../read-ahead.ts';
import { sweep } from '../sweep.ts';
import { NotAtomic, rejectTransaction } from './not-atomic.ts';
import { runTransaction } from './transaction.ts';

/** Books in one FHIR transaction: the Slots and the Appointments of a write together, all or nothing. */
export function transactionBooking(connection: FhirConnection, facts: ServerFacts): Booking {
  // Medplum stores appointments unchanged: https://www.medplum.com/docs/scheduling/appointment-book
  const ehr = withOperationLookup(connection, true);
  const capabilities = transactionCapabilities(facts, ehr.settings);
  const ahead = readAhead(ehr, facts.includesSlots);
  const intended = intendedBookings(ehr);
  const findDone = (operationId: string) => findOperationResources(ehr, operationId);
  let isAtomic = true;
  return {
    capabilities,
    timesAreSlots: true,
    listTimeSlots: (query) =>
      listTimeSlots(ehr, query, slotTimes(ehr, { sweep: (leftovers) => sweep(ehr, leftovers) })),
    findAppointments: ahead.findAppointments,
    readIntended: intended.read,
    ...operationFinder(ehr),
    async changeAppointments(write) {
      if (!isAtomic) return rejectTransaction(ehr, write.operationId);
      assertSupported(capabilities, write);
      try {
        return await changeAppointments(ehr, write, {
          findDone: ehr.operationLookup ? findDone : null,
          plan: (it, options) => planWrite(ehr, it, options, { ahead, intended }),
          execute: async (plan) => inOrderOfChanges(plan, await runTransaction(ehr, plan)),
        });
      } catch (error) {
        // A server that executed a part of a transaction gets no further transactions.
        if (error instanceof NotAtomic) isAtomic = false;
        throw error;
      }
    },
  };
}

/** A transaction changes an Appointment by PUT. */
function transactionCapabilities(facts: ServerFacts, settings: FhirSettings): BookingCapabilities {
  const size = settings.booking?.transaction_size;
  const changesPerTransaction = size === undefined ? undefined : Math.floor(size / resourcesPerChange);
  return {
    changes: slotChanges(facts.can('Appointment', 'update'), settings),
    transactions: true,
    ...(changesPerTransaction === undefined ? {} : { changesPerTransaction }),
  };
}
