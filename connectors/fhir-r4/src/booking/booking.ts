import {
  type AppointmentWrite,
  type Capabilities,
  type Connector,
  ConnectorError,
  type IntendedBooking,
  type TimeSlotQuery,
} from '@crossward/connector-kit';
import type { BookingConnection } from '../server/connection.ts';
import type { FhirSettings } from '../settings.ts';
import { type FreeTimeSource, listTimeSlots } from '../slots/list.ts';
import { slotTimes } from '../slots/slot-times.ts';
import { changeAppointments, type WriteSteps } from './write/attempts.ts';
import { type CleanUp, type FindDone, findOperationResources, operationFinder } from './write/operation-results.ts';

export type BookingCapabilities = Pick<
  Capabilities,
  'changes' | 'transactions' | 'changesPerTransaction' | 'repeatsLateWrites' | 'rebooks'
>;

/** A booking mode, as its folder exports it to the connector. Everything that differs between modes is in here. */
export interface Booking extends Pick<Connector, 'changeAppointments' | 'findOperation' | 'findAppointments'> {
  readonly capabilities: BookingCapabilities;
  readonly listTimeSlots: NonNullable<Connector['listTimeSlots']>;
  /** Starts to read what a booking needs while its patient is looked up. Call the result with the patient's id. */
  readIntended?(booking: IntendedBooking): (patientId: string) => void;
  /** Whether the server computes free times for each search. Otherwise they are Slot resources. */
  readonly computesTimes?: boolean;
}

/** @throws ConnectorError `unsupported` for a write that this mode does not support */
function assertSupported(
  { changes, changesPerTransaction = Number.POSITIVE_INFINITY, transactions, rebooks }: BookingCapabilities,
  write: AppointmentWrite,
): void {
  const isHold = write.changes.some((change) => change.kind === 'create' && change.holdUntil !== null);
  if (write.changes.some(({ kind }) => !changes.includes(kind)) || (isHold && !changes.includes('confirm'))) {
    throw new ConnectorError('unsupported', 'This EHR does not support this kind of change');
  }
  if (rebooks && write.changes.some((it) => it.kind === 'update' && (it.time ?? it.resourceId) !== undefined)) {
    throw new ConnectorError('unsupported', 'This EHR moves an appointment by booking anew');
  }
  if (write.changes.length > (transactions ? changesPerTransaction : 1)) {
    throw new ConnectorError('unsupported', 'This EHR does not support this many changes at once');
  }
}

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

/** What the settings leave and add. A hold is a booking. */
function offered(capabilities: BookingCapabilities, { booking = {} }: FhirSettings): BookingCapabilities {
  const { changes: wanted = ['create', 'update', 'cancel'], rebooks = false } = booking;
  const changes = capabilities.changes.filter((kind) =>
    wanted.includes(kind === 'update' || kind === 'cancel' ? kind : 'create'),
  );
  const canRebook = changes.includes('create') && changes.includes('cancel');
  return { ...capabilities, changes, ...(rebooks && canRebook ? { rebooks } : {}) };
}

/** What the ways to book have in common. */
export function createBooking<Plan>(
  ehr: BookingConnection,
  way: Way<Plan>,
): Booking & Required<Pick<Booking, 'changeAppointments'>> {
  const { freeTimes = slotTimes(ehr), addFreeing, prepare, cleanUp, plan, execute } = way;
  const capabilities = offered(way.capabilities, ehr.settings);
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
