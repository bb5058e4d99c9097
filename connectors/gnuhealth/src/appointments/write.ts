import type { Appointment, AppointmentWrite } from '@crossward/connector-kit';
import { oneChange } from '@crossward/connector-kit/rest';
import type { Ehr } from '../ehr.ts';
import { book } from './book.ts';
import { cancel } from './cancel.ts';
import { update } from './update.ts';

/** One change in each call. */
export function changeAppointments(ehr: Ehr, write: AppointmentWrite): Promise<readonly Appointment[]> {
  return oneChange(write, {
    create: (careUnit, change) => book(ehr, careUnit, change),
    update: (careUnit, change) => update(ehr, careUnit, change),
    cancel: (careUnit, change) => cancel(ehr, careUnit, change),
  });
}
