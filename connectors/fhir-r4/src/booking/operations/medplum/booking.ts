import type { AppointmentWrite } from '@crossward/connector-kit';
import { canChangeAppointments, type ServerFacts } from '../../../capability-statement.ts';
import { type BookingConnection, type FhirConnection, withOperationLookup } from '../../../connection.ts';
import { listTimeSlots } from '../../../time-slots/list.ts';
import { assertSupported, type Booking, type BookingCapabilities } from '../../booking.ts';
import { placedAppointment } from '../../changes/new-appointment.ts';
import { type ChangeOnSlots, readSingleChange } from '../../changes/single.ts';
import { changeAppointments } from '../../write/attempts.ts';
import { findOperationResources, operationFinder } from '../../write/operation-results.ts';
import { operationChanges } from '../changes.ts';
import { endExpiredHolds, expiredHoldIds } from '../expired-holds.ts';
import { runOperations } from '../run.ts';
import { medplum } from './medplum.ts';
import { move } from './move.ts';
import { proposedTimes } from './proposed-times.ts';

/**
 * Books by Medplum's `$find`, `$hold`, `$book`, `$confirm` and `$reschedule`. Medplum computes free times and has no
 * free Slots: a booking creates the Slots of an appointment, and a cancellation removes them.
 */
export function medplumBooking(connection: FhirConnection, facts: ServerFacts): Booking {
  const ehr = withOperationLookup(connection, true);
  const changes = operationChanges(facts, ehr.settings, medplum, { moves: true });
  const capabilities: BookingCapabilities = { changes, transactions: false };
  const holds = changes.includes('confirm');
  const canChange = canChangeAppointments(facts);
  return {
    capabilities,
    timesAreSlots: false,
    listTimeSlots: (query) => listTimeSlots(ehr, query, proposedTimes(ehr, holds ? expiredHoldIds(ehr) : undefined)),
    ...operationFinder(ehr),
    async changeAppointments(write: AppointmentWrite) {
      assertSupported(capabilities, write);
      if (holds) await endExpiredHolds(ehr, medplum, write);
      return changeAppointments(ehr, write, {
        findDone: ehr.operationLookup ? (operationId) => findOperationResources(ehr, operationId) : null,
        plan: (it) => planWithoutSlots(ehr, it),
        execute: async (change) => {
          const { before, wish } = change;
          if (before && wish) return [await move(ehr, change, before, wish)];
          return [await runOperations(ehr, medplum, change, { canChange })];
        },
      });
    },
  };
}

/** `$book` and `$reschedule` check the time, so it is not read first. */
async function planWithoutSlots(ehr: BookingConnection, write: AppointmentWrite): Promise<ChangeOnSlots> {
  const change = await readSingleChange(ehr, write);
  const { directory, after, wish } = change;
  if (!wish) return { ...change, takes: [] };
  return { ...change, takes: [], after: placedAppointment(after, [], wish, wish.resourceId, directory) };
}
