import { type AppointmentWrite, type ChangeKind, changeKinds } from '@crossward/connector-kit';
import type { FhirAppointment } from '../../fhir.ts';
import type { ServerFacts } from '../../server/capability-statement.ts';
import type { BookingConnection } from '../../server/connection.ts';
import type { FhirSettings } from '../../settings.ts';
import { slotTimes } from '../../slots/slot-times.ts';
import { type BookingCapabilities, createBooking } from '../booking.ts';
import type { CleanUp, FindDone } from '../write/operation-results.ts';
import { intendedBookings } from './intended-bookings.ts';
import { inOrderOfChanges, type Plan, planWrite } from './plan.ts';
import { readAhead } from './read-ahead.ts';
import { sweep } from './sweep.ts';

interface Way {
  readonly capabilities: BookingCapabilities;
  readonly findDone?: FindDone;
  readonly cleanUp?: CleanUp;
  /** Writes the whole plan or nothing. Returns the appointments in the plan's order. */
  execute(plan: Plan, write: AppointmentWrite): Promise<readonly FhirAppointment[]>;
}

/** Books on a server whose Slots the connector writes itself. */
export function bookingBySlots(ehr: BookingConnection, facts: ServerFacts, { execute, ...way }: Way) {
  const ahead = readAhead(ehr, facts.includesSlots);
  const intended = intendedBookings(ehr);
  return {
    ...createBooking(ehr, {
      ...way,
      freeTimes: slotTimes(ehr, { sweep: (leftovers) => sweep(ehr, leftovers) }),
      plan: (write, options) => planWrite(ehr, write, options, { ahead, intended }),
      execute: async (plan, write) => inOrderOfChanges(plan, await execute(plan, write)),
    }),
    findAppointments: ahead.findAppointments,
    readIntended: intended.read,
  };
}

/**
 * The supported changes if the connector writes the Slots itself.
 *
 * @param canChange whether this booking mode can change an existing Appointment
 */
export function slotChanges(
  canChange: boolean,
  { booking: { hold = 'auto' } = {} }: FhirSettings,
): readonly ChangeKind[] {
  // A hold that cannot be confirmed would lose the booking after the correct code.
  if (!canChange) return ['create'];
  return hold === false ? ['create', 'update', 'cancel'] : changeKinds;
}
