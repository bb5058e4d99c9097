import type { FhirAppointment } from '../../fhir.ts';
import { appointmentTime } from '../../mappers/appointment.ts';
import { resourceReference } from '../../mappers/resource.ts';
import type { BookingConnection } from '../../server/connection.ts';
import { isStored } from '../../server/right-answer.ts';
import type { ChangeOnSlots } from '../changes/single.ts';
import { runCheckedWrite } from '../write/attempts.ts';
import { timeTaken, unknownOutcome } from '../write/outcomes.ts';
import { areFree, settled } from '../write/settle.ts';
import { appointmentOf, call } from './calls.ts';
import { finishCancellations } from './expired-holds.ts';
import { type OperationForm, type Wanted, wordsOf } from './form.ts';
import { confirm, hold, withOurs } from './holds.ts';

/**
 * Makes one change. A new appointment: `$find`, then `$hold` or `$book`. A confirmation: `$book`. Any other change: an
 * update of the Appointment under the version that was read.
 *
 * @param canChange whether the server accepts updates of Appointments
 */
export async function runOperations(
  ehr: BookingConnection,
  form: OperationForm,
  change: ChangeOnSlots,
  { canChange }: { readonly canChange: boolean },
): Promise<FhirAppointment> {
  const { before, after } = change;
  if (!before) return take(ehr, form, change);
  const changesStatus = before.status !== after.status;
  if (changesStatus && after.status === 'booked') return confirm(ehr, form, change, before);
  const { cancel } = form;
  if (cancel && !canChange && changesStatus) {
    const work = async () => appointmentOf(ehr, await call(ehr, cancel(after), 'cancelled'));
    return settled(ehr, change, work, undefined);
  }
  const changed = await runCheckedWrite(ehr, change);
  if (after.status === 'cancelled') await form.afterCancel?.(ehr, before);
  return changed;
}

/** Books or holds a new appointment. */
async function take(ehr: BookingConnection, form: OperationForm, change: ChangeOnSlots): Promise<FhirAppointment> {
  const { after: appointment, needed, directory } = change;
  const actor = needed && resourceReference(needed.resourceId);
  if (!needed || actor === undefined) throw timeTaken();
  const wanted: Wanted = { ...needed, ...wordsOf(appointment, ehr.dialect), appointment, directory, actor };
  const proposed = async () => {
    const all = (await form.propose?.(ehr, wanted)) ?? [];
    return all.find((it) => isAt(it, needed) && directory.resourceOf(it) === needed.resourceId);
  };
  const proposedLater = async () => ((await finishCancellations(ehr, form, wanted)) ? await proposed() : undefined);
  const isOpen = form.propose ? async () => (await proposed()) !== undefined : () => areFree(ehr, change);
  return settled(
    ehr,
    change,
    async () => {
      const proposal = form.propose ? ((await proposed()) ?? (await proposedLater())) : appointment;
      if (!proposal) throw timeTaken();
      const chosen = form.takesAppointment ? withOurs(ehr, proposal, appointment) : proposal;
      if (appointment.status !== 'booked') return hold(ehr, form, chosen, appointment);
      const made = await appointmentOf(ehr, await call(ehr, await form.book(ehr, chosen, wanted)));
      if (isStored(appointment, made)) return made;
      throw unknownOutcome();
    },
    isOpen,
  );
}

/** Whether an appointment has exactly this time. */
export function isAt(
  appointment: FhirAppointment,
  { start, end }: { readonly start: Date; readonly end: Date },
): boolean {
  const time = appointmentTime(appointment);
  return time?.start.getTime() === start.getTime() && time.end.getTime() === end.getTime();
}
