import type { AppointmentUpdate } from '../connector.ts';
import { ConnectorError, type ConnectorErrorKind } from '../errors.ts';
import type { Appointment } from '../records.ts';

type Standing = Pick<Appointment, 'state' | 'hasStarted'>;

/** What was found. @throws ConnectorError of this kind, such as `appointment_not_found`, if it is nothing */
export function required<Found>(found: Found | null | undefined, kind: ConnectorErrorKind): Found {
  if (found !== null && found !== undefined) return found;
  throw new ConnectorError(kind, 'The EHR has nothing with this id here');
}

/** Whether an update moves the appointment. */
export function isMove({ time, resourceId }: Pick<AppointmentUpdate, 'time' | 'resourceId'>): boolean {
  return time !== undefined || resourceId !== undefined;
}

/** @throws ConnectorError `appointment_cancelled`, or for a move `appointment_started` */
export function assertChangeable(appointment: Standing, moves: boolean): void {
  if (appointment.state === 'cancelled') {
    throw new ConnectorError('appointment_cancelled', 'The appointment is cancelled');
  }
  if (moves) assertNotStarted(appointment);
}

/** @throws ConnectorError `appointment_started` */
export function assertNotStarted({ hasStarted }: Pick<Standing, 'hasStarted'>): void {
  if (hasStarted) throw new ConnectorError('appointment_started', 'The visit has started');
}

/** The time that was asked for is not free. */
export function timeTaken(options: ConstructorParameters<typeof ConnectorError>[2] = {}): ConnectorError {
  return new ConnectorError('time_slot_unavailable', 'The EHR has no such time that is free', options);
}
