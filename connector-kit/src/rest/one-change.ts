import type {
  AppointmentCancellation,
  AppointmentChange,
  AppointmentCreation,
  AppointmentUpdate,
} from '../connector.ts';
import { ConnectorError } from '../errors.ts';
import type { Appointment } from '../records.ts';

/** What an EHR without holds and transactions can do at a care unit. Absent: not that. */
export interface Changes<At> {
  create?(at: At, change: AppointmentCreation): Promise<Appointment>;
  update?(at: At, change: AppointmentUpdate): Promise<Appointment>;
  cancel?(at: At, change: AppointmentCancellation): Promise<Appointment>;
}

/** `changeAppointments` of an EHR that makes one change at a time and cannot hold a time. Everything else is `unsupported`. */
export async function oneChange<At>(
  at: At,
  [change, ...more]: readonly AppointmentChange[],
  { create, update, cancel }: Changes<At>,
): Promise<readonly Appointment[]> {
  if (!change || more.length > 0) throw new ConnectorError('unsupported', 'The EHR makes one change at a time');
  if (change.kind === 'create' && change.holdUntil === null && create) return [await create(at, change)];
  if (change.kind === 'update' && update) return [await update(at, change)];
  if (change.kind === 'cancel' && cancel) return [await cancel(at, change)];
  throw new ConnectorError('unsupported', 'The EHR can neither hold a time nor make such a change');
}
