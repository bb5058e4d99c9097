import type { ServerFacts } from '../../server/capability-statement.ts';
import { type FhirConnection, withOperationLookup } from '../../server/connection.ts';
import { type FhirSettings, resourcesPerChange } from '../../settings.ts';
import type { Booking, BookingCapabilities } from '../booking.ts';
import { bookingBySlots, slotChanges } from '../slots/booking-by-slots.ts';
import { NotAtomic, rejectTransaction } from './not-atomic.ts';
import { runTransaction } from './transaction-write.ts';

/** Books in one FHIR transaction: the Slots and the Appointments of a write together, all or nothing. */
export function transactionBooking(connection: FhirConnection, facts: ServerFacts): Booking {
  // Medplum stores appointments unchanged: https://www.medplum.com/docs/scheduling/appointment-book
  const ehr = withOperationLookup(connection, true);
  const booking = bookingBySlots(ehr, facts, {
    capabilities: transactionCapabilities(facts, ehr.settings),
    execute: (plan) => runTransaction(ehr, plan),
  });
  let isAtomic = true;
  return {
    ...booking,
    async changeAppointments(write) {
      if (!isAtomic) return rejectTransaction(ehr, write.operationId);
      try {
        return await booking.changeAppointments(write);
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
