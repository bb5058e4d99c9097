import { type Appointment, type AppointmentWrite, ConnectorError } from '@crossward/connector-kit';
import type { Ehr } from '../ehr.ts';
import { book } from './book.ts';
import { cancel } from './cancel.ts';
import { update } from './update.ts';

/** One change in each call. */
export async function changeAppointments(
  ehr: Ehr,
  { careUnit, changes }: AppointmentWrite,
): Promise<readonly Appointment[]> {
  const [change, ...more] = changes;
  if (!change || more.length > 0) throw new ConnectorError('unsupported', 'The EHR makes one change at a time');
  switch (change.kind) {
    case 'create':
      return [await book(ehr, careUnit, change)];
    case 'update':
      return [await update(ehr, careUnit, change)];
    case 'cancel':
      return [await cancel(ehr, careUnit, change)];
    default:
      throw new ConnectorError('unsupported', 'The EHR cannot hold a time');
  }
}
