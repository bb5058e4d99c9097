import type {
  AppointmentCancellation,
  AppointmentCreation,
  AppointmentUpdate,
  AppointmentWrite,
} from '../connector.ts';
import { ConnectorError } from '../errors.ts';
import type { Appointment, CareUnit } from '../records.ts';

/** What an EHR without holds and transactions can do. Absent: not that. */
export interface Changes {
  create?(careUnit: CareUnit, change: AppointmentCreation): Promise<Appointment>;
  update?(careUnit: CareUnit, change: AppointmentUpdate): Promise<Appointment>;
  cancel?(careUnit: CareUnit, change: AppointmentCancellation): Promise<Appointment>;
}

/** `changeAppointments` of an EHR that makes one change at a time and cannot hold a time. Everything else is `unsupported`. */
export async function oneChange(
  { careUnit, changes: [change, ...more] }: AppointmentWrite,
  { create, update, cancel }: Changes,
): Promise<readonly Appointment[]> {
  if (!change || more.length > 0) throw new ConnectorError('unsupported', 'The EHR makes one change at a time');
  if (change.kind === 'create' && change.holdUntil === null && create) return [await create(careUnit, change)];
  if (change.kind === 'update' && update) return [await update(careUnit, change)];
  if (change.kind === 'cancel' && cancel) return [await cancel(careUnit, change)];
  throw new ConnectorError('unsupported', 'The EHR can neither hold a time nor make such a change');
}
