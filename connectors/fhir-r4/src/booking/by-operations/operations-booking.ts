import { type AppointmentWrite, type ChangeKind, changeKinds } from '@crossward/connector-kit';
import { canChangeAppointments, type ServerFacts } from '../../server/capability-statement.ts';
import { type BookingConnection, type FhirConnection, withOperationLookup } from '../../server/connection.ts';
import type { FhirSettings } from '../../settings.ts';
import { type Booking, createBooking } from '../booking.ts';
import { placedAppointment } from '../changes/new-appointment.ts';
import { type ChangeOnSlots, planOnSlots, readSingleChange } from '../changes/single.ts';
import { endExpiredHolds, withExpiredHolds } from './expired-holds.ts';
import type { OperationForm } from './form.ts';
import { runOperations } from './run.ts';

/** Books by `$find`, `$hold` and `$book`. The form defines the names and parameters of the operations. */
export function operationsBooking(connection: FhirConnection, facts: ServerFacts, form: OperationForm): Booking {
  const ehr: BookingConnection = form.takesAppointment
    ? withOperationLookup(connection, form.keepsOperationIds === true)
    : { ...connection, operationLookup: false };
  const { computed } = form;
  const changes = operationChanges(facts, ehr.settings, form);
  const holds = changes.includes('confirm');
  const canChange = canChangeAppointments(facts);
  const booking = createBooking(ehr, {
    capabilities: { changes, transactions: false },
    freeTimes: computed?.freeTimes(ehr),
    addFreeing: holds ? (query) => withExpiredHolds(ehr, query) : undefined,
    prepare: holds ? (write) => endExpiredHolds(ehr, form, write) : undefined,
    plan: (write) => (computed ? planWithoutSlots(ehr, write) : planOnSlots(ehr, write)),
    execute: async (change) => {
      const { before, needed } = change;
      if (computed && before && needed) return [await computed.move(ehr, change, before, needed)];
      return [await runOperations(ehr, form, change, { canChange })];
    },
  });
  return computed ? { ...booking, computesTimes: true, ...findMoved(ehr, booking) } : booking;
}

/**
 * A move takes its time in one request and stores its operation id in the next. One that was interrupted in between is completed:
 * otherwise an appointment that has moved would be told as not moved.
 */
function findMoved(
  ehr: BookingConnection,
  { findOperation, changeAppointments }: ReturnType<typeof createBooking>,
): Pick<Booking, 'findOperation'> {
  if (!findOperation) return {};
  return {
    async findOperation(careUnit, operationId, changes) {
      const found = await findOperation(careUnit, operationId, changes);
      const [change] = changes ?? [];
      if (found || !changes || change?.kind !== 'update' || !change.time) return found;
      const write = { operationId, careUnit, changes };
      const { before, needed } = await readSingleChange(ehr, write);
      // It has another time than the one that was wanted.
      if (needed || before?.status !== 'booked') return found;
      return changeAppointments(write);
    },
  };
}

/** The operations check the time, so it is not read first. */
async function planWithoutSlots(ehr: BookingConnection, write: AppointmentWrite): Promise<ChangeOnSlots> {
  const change = await readSingleChange(ehr, write);
  const { directory, after, needed } = change;
  if (!needed) return { ...change, takes: [] };
  return { ...change, takes: [], after: placedAppointment(after, [], needed, needed.resourceId, directory) };
}

/**
 * The supported changes. A new booking followed by a cancellation is not a move: the appointment's own time would not count
 * as free.
 */
function operationChanges(
  facts: ServerFacts,
  { booking: { hold, checked_update } = {} }: FhirSettings,
  form: OperationForm,
): readonly ChangeKind[] {
  if (!canChangeAppointments(facts)) return form.cancel ? ['create', 'cancel'] : ['create'];
  // No definition of `$hold` says how long a hold lasts, or lets a client extend it. Only the operator can know.
  const holds = hold === true && form.hold !== null;
  const canMove = form.computed !== undefined || (checked_update === true && facts.can('Appointment', 'update'));
  const kinds = holds ? changeKinds : (['create', 'update', 'cancel'] as const);
  return kinds.filter((kind) => kind !== 'update' || canMove);
}
