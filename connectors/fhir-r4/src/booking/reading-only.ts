import { type FhirConnection, withOperationLookup } from '../server/connection.ts';
import { listTimeSlots } from '../slots/list.ts';
import { slotTimes } from '../slots/slot-times.ts';
import type { Booking } from './booking.ts';
import { operationFinder } from './write/operation-results.ts';

/** No booking mode: appointments and free slots can only be read. */
export function readingOnly(connection: FhirConnection): Booking {
  const ehr = withOperationLookup(connection, false);
  return {
    capabilities: { changes: [], transactions: false },
    listTimeSlots: (query) => listTimeSlots(ehr, query, slotTimes(ehr)),
    ...operationFinder(ehr),
  };
}
