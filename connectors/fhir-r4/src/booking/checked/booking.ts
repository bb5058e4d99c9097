import type { ChangeKind } from '@crossward/connector-kit';
import type { ServerFacts } from '../../capability-statement.ts';
import { type FhirConnection, withOperationLookup } from '../../connection.ts';
import { listTimeSlots } from '../../time-slots/list.ts';
import { slotTimes } from '../../time-slots/slot-times.ts';
import { assertSupported, type Booking, type BookingCapabilities } from '../booking.ts';
import { planOnSlots } from '../changes/single.ts';
import { changeAppointments } from '../write/attempts.ts';
import { findOperationResources, operationFinder } from '../write/operation-results.ts';
import { minimalAppointment } from './minimal.ts';
import { runCheckedWrite } from './write.ts';

/**
 * Books by `POST Appointment`, for a server that rejects an Appointment whose Slot is taken and updates the Slot
 * itself. The connector never writes a Slot. With the setting `minimal_create`, a new Appointment contains only its
 * Slot and its patient.
 */
export function checkedBooking(connection: FhirConnection, facts: ServerFacts): Booking {
  const ehr = withOperationLookup(connection, false);
  const isMinimal = ehr.settings.booking?.minimal_create === true;
  const capabilities: BookingCapabilities = {
    changes: checkedChanges(facts),
    transactions: false,
  };
  return {
    capabilities,
    timesAreSlots: true,
    listTimeSlots: (query) => listTimeSlots(ehr, query, slotTimes(ehr)),
    ...operationFinder(ehr),
    async changeAppointments(write) {
      assertSupported(capabilities, write);
      return changeAppointments(ehr, write, {
        findDone: ehr.operationLookup ? (operationId) => findOperationResources(ehr, operationId) : null,
        plan: (it) => planOnSlots(ehr, it),
        execute: async (change) => {
          const isNew = change.before === null;
          const wanted = isMinimal && isNew ? { ...change, after: minimalAppointment(change.after) } : change;
          return [await runCheckedWrite(ehr, wanted)];
        },
      });
    },
  };
}

/** Oracle Health changes an Appointment by JSON Patch, and cannot move it. */
function checkedChanges(facts: ServerFacts): readonly ChangeKind[] {
  if (facts.can('Appointment', 'update')) return ['create', 'update', 'cancel'];
  return facts.can('Appointment', 'patch') ? ['create', 'cancel'] : ['create'];
}
