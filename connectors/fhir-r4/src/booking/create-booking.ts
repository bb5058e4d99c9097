import type { AppointmentWrite, TimeSlotQuery } from '@crossward/connector-kit';
import type { BookingConnection } from '../server/connection.ts';
import { type FreeTimeSource, listTimeSlots } from '../slots/list.ts';
import { slotTimes } from '../slots/slot-times.ts';
import { assertSupported, type Booking, type BookingCapabilities } from './booking.ts';
import { changeAppointments, type WriteSteps } from './write/attempts.ts';
import { type CleanUp, type FindDone, findOperationResources, operationFinder } from './write/operation-results.ts';

interface Way<Plan> extends Pick<WriteSteps<Plan>, 'plan' | 'execute'> {
  readonly capabilities: BookingCapabilities;
  /** Absent: free times are Slot resources, which the server keeps up to date. */
  readonly freeTimes?: FreeTimeSource | undefined;
  /** Adds to a query the appointments whose time counts as free. */
  readonly addFreeing?: ((query: TimeSlotQuery) => Promise<TimeSlotQuery>) | undefined;
  /** Called before a write. */
  readonly prepare?: ((write: AppointmentWrite) => Promise<void>) | undefined;
  readonly findDone?: FindDone;
  readonly cleanUp?: CleanUp;
}

/** What the ways to book have in common. */
export function createBooking<Plan>(
  ehr: BookingConnection,
  way: Way<Plan>,
): Booking & Required<Pick<Booking, 'changeAppointments'>> {
  const { capabilities, freeTimes = slotTimes(ehr), addFreeing, prepare, cleanUp, plan, execute } = way;
  const { findDone = (operationId: string) => findOperationResources(ehr, operationId) } = way;
  return {
    capabilities,
    listTimeSlots: async (query) => listTimeSlots(ehr, (await addFreeing?.(query)) ?? query, freeTimes),
    ...operationFinder(ehr, findDone, cleanUp),
    async changeAppointments(write) {
      assertSupported(capabilities, write);
      await prepare?.(write);
      return changeAppointments(ehr, write, { findDone: ehr.operationLookup ? findDone : null, plan, execute });
    },
  };
}
