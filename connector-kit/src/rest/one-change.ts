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

type OfEhr<Ehr, Change> = (ehr: Ehr, careUnit: CareUnit, change: Change) => Promise<Appointment>;

/** `changeAppointments`, as `oneChange`, with functions that take the EHR first. */
export function changesOf<Ehr>(
  ehr: Ehr,
  make: {
    readonly create: OfEhr<Ehr, AppointmentCreation>;
    readonly update: OfEhr<Ehr, AppointmentUpdate>;
    readonly cancel: OfEhr<Ehr, AppointmentCancellation>;
  },
): (write: AppointmentWrite) => Promise<readonly Appointment[]> {
  return (write) =>
    oneChange(write, {
      create: (careUnit, change) => make.create(ehr, careUnit, change),
      update: (careUnit, change) => make.update(ehr, careUnit, change),
      cancel: (careUnit, change) => make.cancel(ehr, careUnit, change),
    });
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
