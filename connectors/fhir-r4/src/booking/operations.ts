import { type AppointmentWrite, ConnectorError } from '@crossward/connector-kit';
import type { WriteAnswer } from '../client.ts';
import type { FhirConnection } from '../connection.ts';
import { type FhirAppointment, localReference, type Participant, referenceTo } from '../fhir.ts';
import { appointmentTime, heldUntilOf, patientIdOf, slotsOf, withComment, withHold } from '../mappers/appointment.ts';
import { operationKeys } from '../operation-ids.ts';
import { resourceReference } from '../resource-id.ts';
import { changeAppointment } from './appointment-change.ts';
import { runCheckedWrite, settled } from './checked-create.ts';
import { isBroken, isConflict, LostRace, quietly, timeTaken, unknownOutcome } from './lost-race.ts';
import { appointmentsIn, wasRefused } from './operation-answers.ts';
import type { OperationCall, OperationForm, Wanted } from './operation-forms.ts';
import type { Plan, PlannedAppointment } from './plan.ts';
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
    return [await confirm(ehr, form, plan, planned, planned.before)];
  }
  if (form.move && slotsOf(planned.before).join() !== slotsOf(planned.after).join()) {
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
  const wanted: Wanted = { ...wordsOf(ehr, appointment), actor, slots: plan.slots.map(({ before }) => before) };
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
 * `$hold` by IHE and Argonaut takes no patient and no time limit: both are written on what it has held. A hold that the
 * server will end before it was asked to is given back, since the code would find the time gone.
 */
async function hold(
  ehr: FhirConnection,
  form: OperationForm,
  chosen: FhirAppointment,
  wanted: FhirAppointment,
): Promise<FhirAppointment> {
  if (!form.hold) throw new ConnectorError('unsupported', 'This EHR holds no times');
  const answer = await call(ehr, form.hold.take(chosen));
  const held = await appointmentOf(ehr, answer);
  try {
    if (endsBefore(answer, heldUntilOf(wanted))) {
      throw new ConnectorError('rejected', 'The EHR ends its holds before a code does: booking.hold has to be off');
    }
    const ours = withOurs(ehr, held, wanted);
    return ours === held ? held : await changeAppointment(ehr, held, ours);
  } catch (error) {
    await quietly(() => giveUp(ehr, form, held));
    throw error;
  }
}

/** Books what is held, under the id that it has. Refused, it is gone: looked at again, it says so. */
async function confirm(
  ehr: FhirConnection,
  form: OperationForm,
  plan: Plan,
  { after }: PlannedAppointment,
  held: FhirAppointment,
): Promise<FhirAppointment> {
  const { hold: holds } = form;
  if (!holds) throw new ConnectorError('unsupported', 'This EHR holds no times');
  const wanted: Wanted = { ...wordsOf(ehr, after), actor: '', slots: [] };
  const isOpen = async () => (await ehr.client.read<FhirAppointment>(referenceTo(held)))?.status === held.status;
  return settled(
    ehr,
    plan,
    async () => appointmentOf(ehr, await call(ehr, await holds.confirm(ehr, held, wanted))),
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
    const wanted: Wanted = { ...wordsOf(ehr, after), actor: '', slots, ignoring: referenceTo(before) };
    const open = (await form.propose?.(ehr, wanted)) ?? [];
    throw open.some((it) => isFor(it, after)) ? error : timeTaken();
  });
  const there = await appointmentOf(ehr, moved);
  const { commentField } = ehr.dialect;
  const { identifier } = after;
  const written = withComment(there, commentField, after[commentField] ?? null);
  return changeAppointment(ehr, there, identifier ? { ...written, identifier } : written);
}

/** Ends a hold, unless somebody has changed it since it was read. */
export async function giveUp(ehr: FhirConnection, form: OperationForm, held: FhirAppointment): Promise<void> {
  await changeAppointment(ehr, held, { ...withHold(held, null), status: 'cancelled' });
  if (form.makesSlots) await removeSlots(ehr, held);
}

/** Argonaut's servers say in `Expires` when a hold ends, in whole seconds. */
function endsBefore({ expires }: WriteAnswer, until: Date | null): boolean {
  return expires !== undefined && until !== null && expires.getTime() + 1000 < until.getTime();
}

function isFor(proposed: FhirAppointment, wanted: FhirAppointment): boolean {
  const [own, time] = [appointmentTime(proposed), appointmentTime(wanted)];
  return own?.start.getTime() === time?.start.getTime() && own?.end.getTime() === time?.end.getTime();
}

function wordsOf({ dialect }: FhirConnection, appointment: FhirAppointment): Omit<Wanted, 'actor' | 'slots'> {
  return { appointment, patient: `Patient/${patientIdOf(appointment)}`, comment: appointment[dialect.commentField] };
}

/** With what is ours to say beside the time: for whom, why, until when it is held, and by which write. */
function withOurs({ dialect }: FhirConnection, theirs: FhirAppointment, ours: FhirAppointment): FhirAppointment {
  const { commentField, operationSystem } = dialect;
  const isPatient = ({ actor }: Participant) => localReference(actor)?.startsWith('Patient/') === true;
  const comment = ours[commentField];
  const keys = operationKeys(theirs, operationSystem);
  const identifier = (ours.identifier ?? []).filter(({ value }) => !keys.includes(value ?? ''));
  const missing: Partial<FhirAppointment> = {
    ...(patientIdOf(theirs) === undefined
      ? { participant: [...(theirs.participant ?? []), ...(ours.participant ?? []).filter(isPatient)] }
      : {}),
    ...(identifier.length > 0 ? { identifier: [...(theirs.identifier ?? []), ...identifier] } : {}),
    ...(comment === undefined || theirs[commentField] === comment ? {} : { [commentField]: comment }),
  };
  const until = heldUntilOf(ours);
  const isMarked = heldUntilOf(theirs)?.getTime() === until?.getTime();
  if (isMarked && Object.keys(missing).length === 0) return theirs;
  return withHold({ ...theirs, ...missing }, until);
}

async function call(
  ehr: FhirConnection,
  { path, parameter }: OperationCall,
  wanted: 'taken' | 'cancelled' = 'taken',
): Promise<WriteAnswer> {
  const answer = await ehr.client.operation(path, { resourceType: 'Parameters', parameter });
  if (answer.ok && !wasRefused(answer.body, wanted)) return answer;
  if (answer.ok || isConflict(answer.status)) throw new LostRace();
  if (isBroken(answer.status)) throw unknownOutcome(answer.refusal);
  throw answer.refusal ?? new ConnectorError('rejected', `The EHR answered ${answer.status}`);
}

async function appointmentOf(ehr: FhirConnection, { body, reference }: WriteAnswer): Promise<FhirAppointment> {
  const [appointment] = appointmentsIn(body);
  if (appointment) return appointment;
  const named = localReference({ reference: reference ?? '' });
  const read = named?.startsWith('Appointment/') ? await ehr.client.read<FhirAppointment>(named) : null;
  if (read) return read;
  throw unknownOutcome();
}
