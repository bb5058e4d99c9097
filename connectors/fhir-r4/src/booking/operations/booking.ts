import type { AppointmentWrite } from '@crossward/connector-kit';
import { canChangeAppointments, type ServerFacts } from '../../capability-statement.ts';
import { type BookingConnection, type FhirConnection, withOperationLookup } from '../../connection.ts';
import { listTimeSlots } from '../../time-slots/list.ts';
import { slotTimes } from '../../time-slots/slot-times.ts';
import { assertSupported, type Booking, type BookingCapabilities } from '../booking.ts';
import { planOnSlots } from '../changes/single.ts';
import { changeAppointments } from '../write/attempts.ts';
import { findOperationResources, operationFinder } from '../write/operation-results.ts';
import { operationChanges } from './changes.ts';
import { endExpiredHolds, expiredHoldIds } from './expired-holds.ts';
import type { OperationForm } from './form.ts';
import { runOperations } from './run.ts';

/**
 * Books by `$find`, `$hold` and `$book`, for a server that has free Slots and updates them itself. The form defines the
 * names and parameters of the operations.
 */
export function operationsBooking(connection: FhirConnection, facts: ServerFacts, form: OperationForm): Booking {
  const ehr: BookingConnection = form.takesAppointment
    ? withOperationLookup(connection, false)
    : { ...connection, operationLookup: false };
  const changes = operationChanges(facts, ehr.settings, form, { moves: false });
  const capabilities: BookingCapabilities = { changes, transactions: false };
  const holds = changes.includes('confirm');
  const canChange = canChangeAppointments(facts);
  return {
    capabilities,
    timesAreSlots: true,
    listTimeSlots: (query) =>
      listTimeSlots(ehr, query, slotTimes(ehr, holds ? { alsoFreeing: expiredHoldIds(ehr) } : {})),
    ...operationFinder(ehr),
    async changeAppointments(write: AppointmentWrite) {
      assertSupported(capabilities, write);
      if (holds) await endExpiredHolds(ehr, form, write);
      return changeAppointments(ehr, write, {
        findDone: ehr.operationLookup ? (operationId) => findOperationResources(ehr, operationId) : null,
        plan: (it) => planOnSlots(ehr, it),
        execute: async (change) => [await runOperations(ehr, form, change, { canChange })],
      });
    },
  };
}
