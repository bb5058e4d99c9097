import { type AppointmentWrite, ConnectorError } from '@crossward/connector-kit';
import type { FhirConnection } from '../connection.ts';
import { type FhirAppointment, localReference, referenceTo } from '../fhir.ts';
import { appointmentTime, slotsOf, withComment } from '../mappers/appointment.ts';
import { resourceReference } from '../resource-id.ts';
import { changeAppointment } from './appointment-change.ts';
import { runCheckedWrite, settled } from './checked-create.ts';
import { afterWriting, LostRace, timeTaken } from './lost-race.ts';
import { appointmentOf, call } from './operation-calls.ts';
import { type OperationForm, type Wanted, wordsOf } from './operation-forms.ts';
import { confirm, hold, withOurs } from './operation-holds.ts';
import type { Plan } from './plan.ts';
import { removeSlots } from './released-slots.ts';

/**
 * For a server that books by operation: `$find` proposes, `$hold` holds what was proposed, `$book` books either. How
 * they name things is the form's. Everything else is a change of the Appointment under the version that was read.
 */
export async function runOperations(
  ehr: FhirConnection,
  plan: Plan,
  write: AppointmentWrite,
): Promise<readonly FhirAppointment[]> {
  const [planned] = plan.appointments;
  const form = ehr.operationForm;
  if (!planned || !form) return [];
  if (!planned.before) return [await take(ehr, form, plan, planned.after, write)];
  if (planned.before.status !== planned.after.status && planned.after.status === 'booked') {
    return [await confirm(ehr, form, plan, planned.before, planned.after)];
  }
  if (form.move && takesOthers(plan, planned.before)) {
    return [await move(ehr, form, form.move, plan, planned.before, planned.after)];
  }
  const { cancel } = form;
  if (cancel && ehr.changesBy === 'operation' && planned.before.status !== planned.after.status) {
    const cancelling = async () => appointmentOf(ehr, await call(ehr, cancel(planned.after), 'cancelled'));
    return [await settled(ehr, plan, cancelling)];
  }
  const changed = await runCheckedWrite(ehr, plan);
  if (form.makesSlots && planned.after.status === 'cancelled') await removeSlots(ehr, planned.before);
  return changed;
}

/** Whether it takes other slots than it has. One that another program has booked may name none. */
function takesOthers({ slots }: Plan, appointment: FhirAppointment): boolean {
  const own = slotsOf(appointment);
  return slots.some(({ before, after }) => after.status !== 'free' && !own.includes(referenceTo(before)));
}

/** Books or holds a new appointment. */
async function take(
  ehr: FhirConnection,
  form: OperationForm,
  plan: Plan,
  appointment: FhirAppointment,
  write: AppointmentWrite,
): Promise<FhirAppointment> {
  const [change] = write.changes;
  const actor = change?.kind === 'create' ? resourceReference(change.resourceId) : undefined;
  if (change?.kind !== 'create' || actor === undefined) throw timeTaken();
  const wanted: Wanted = { ...wordsOf(appointment, ehr.dialect), actor, slots: plan.slots.map(({ before }) => before) };
  const directory = await ehr.directory.of(write.careUnit);
  const proposed = async () => {
    const all = (await form.propose?.(ehr, wanted)) ?? [];
    return all.find((it) => isFor(it, appointment) && directory.resourceOf(it) === change.resourceId);
  };
  const isOpen = form.propose ? async () => (await proposed()) !== undefined : undefined;
  return settled(
    ehr,
    plan,
    async () => {
      const proposal = form.propose ? await proposed() : appointment;
      if (!proposal) throw timeTaken();
      const chosen = form.takesAppointment ? withOurs(ehr, proposal, appointment) : proposal;
      if (appointment.status !== 'booked') return hold(ehr, form, chosen, appointment);
      return appointmentOf(ehr, await call(ehr, await form.book(ehr, chosen, wanted)));
    },
    isOpen,
  );
}

/**
 * Moves what is booked, and then writes the rest. If the rest fails, it is planned again, and the time then is as it
 * shall be.
 */
async function move(
  ehr: FhirConnection,
  form: OperationForm,
  moving: NonNullable<OperationForm['move']>,
  plan: Plan,
  before: FhirAppointment,
  after: FhirAppointment,
): Promise<FhirAppointment> {
  const slots = plan.slots.flatMap(({ before: slot, after: { status } }) => (status === 'free' ? [] : slot));
  const [slot, another] = slots;
  const schedule = localReference(slot?.schedule);
  if (another || schedule === undefined || after.start === undefined) throw timeTaken();
  const moved = await call(ehr, moving(before, after.start, schedule)).catch(async (error: unknown) => {
    if (!(error instanceof ConnectorError) || error.kind !== 'rejected') throw error;
    const current = await ehr.client.read<FhirAppointment>(referenceTo(before));
    if (current?.meta?.versionId !== before.meta?.versionId) throw new LostRace();
    const wanted: Wanted = { ...wordsOf(after, ehr.dialect), actor: undefined, slots, ignoring: referenceTo(before) };
    const open = (await form.propose?.(ehr, wanted)) ?? [];
    throw open.some((it) => isFor(it, after)) ? error : timeTaken();
  });
  const there = await appointmentOf(ehr, moved);
  const { commentField } = ehr.dialect;
  const { identifier } = after;
  const written = withComment(there, commentField, after[commentField] ?? null);
  return afterWriting(() => changeAppointment(ehr, there, identifier ? { ...written, identifier } : written));
}

function isFor(proposed: FhirAppointment, wanted: FhirAppointment): boolean {
  const [own, time] = [appointmentTime(proposed), appointmentTime(wanted)];
  return own?.start.getTime() === time?.start.getTime() && own?.end.getTime() === time?.end.getTime();
}
