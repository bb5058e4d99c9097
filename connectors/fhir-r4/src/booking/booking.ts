import {
  type AppointmentWrite,
  type Capabilities,
  type Connector,
  ConnectorError,
  type IntendedBooking,
} from '@crossward/connector-kit';

export type BookingCapabilities = Pick<
  Capabilities,
  'changes' | 'transactions' | 'changesPerTransaction' | 'repeatsLateWrites'
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
export function assertSupported(
  { changes, changesPerTransaction = Number.POSITIVE_INFINITY, transactions }: BookingCapabilities,
  write: AppointmentWrite,
): void {
  const isHold = write.changes.some((change) => change.kind === 'create' && change.holdUntil !== null);
  if (write.changes.some(({ kind }) => !changes.includes(kind)) || (isHold && !changes.includes('confirm'))) {
    throw new ConnectorError('unsupported', 'This EHR does not support this kind of change');
  }
  if (write.changes.length > (transactions ? changesPerTransaction : 1)) {
    throw new ConnectorError('unsupported', 'This EHR does not support this many changes at once');
  }
}
