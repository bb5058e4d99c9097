import { ConnectorError } from '@crossward/connector-kit';
import type { WriteAnswer } from '../client.ts';
import type { FhirConnection } from '../connection.ts';
import { type FhirAppointment, localReference, type Participant, referenceTo } from '../fhir.ts';
import { heldUntilOf, patientIdOf, withHold } from '../mappers/appointment.ts';
import { operationKeys } from '../operation-ids.ts';
import { changeAppointment } from './appointment-change.ts';
import { settled } from './checked-create.ts';
import { afterWriting, LostRace } from './lost-race.ts';
import { appointmentOf, call } from './operation-calls.ts';
import { type OperationForm, wordsOf } from './operation-forms.ts';
import type { Plan } from './plan.ts';
import { removeSlots } from './released-slots.ts';

/**
 * `$hold` by IHE and Argonaut takes no patient and no time limit: both are written on what it has held. A hold that the
 * server will end before it was asked to is given back, since the code would find the time gone.
 */
export async function hold(
  ehr: FhirConnection,
  form: OperationForm,
  chosen: FhirAppointment,
  wanted: FhirAppointment,
): Promise<FhirAppointment> {
  if (!form.hold) throw new ConnectorError('unsupported', 'This EHR holds no times');
  const answer = await call(ehr, form.hold.take(chosen));
  const held = await appointmentOf(ehr, answer);
  try {
    if (endsBefore(answer, heldUntilOf(wanted), ehr.client.clock.now())) {
      throw new ConnectorError('rejected', 'The EHR ends its holds before a code does: booking.hold has to be off');
    }
    const ours = withOurs(ehr, held, wanted);
    return ours === held ? held : await changeAppointment(ehr, held, ours);
  } catch (error) {
    await afterWriting(() => giveUp(ehr, form, held)).catch((failure: unknown) => {
      // Then what was written on it has been done after all.
      if (!(failure instanceof LostRace)) throw failure;
    });
    throw error;
  }
}

/** Books what is held, under the id that it has. Refused, it is gone: looked at again, it says so. */
export async function confirm(
  ehr: FhirConnection,
  form: OperationForm,
  plan: Plan,
  held: FhirAppointment,
  booked: FhirAppointment,
): Promise<FhirAppointment> {
  const { hold: holds } = form;
  if (!holds) throw new ConnectorError('unsupported', 'This EHR holds no times');
  const wanted = { ...wordsOf(booked, ehr.dialect), actor: undefined, slots: [] };
  const isOpen = async () => (await ehr.client.read<FhirAppointment>(referenceTo(held)))?.status === held.status;
  return settled(
    ehr,
    plan,
    async () => appointmentOf(ehr, await call(ehr, await holds.confirm(ehr, held, wanted))),
    isOpen,
  );
}

/** Ends a hold, unless somebody has changed it since it was read. */
export async function giveUp(ehr: FhirConnection, form: OperationForm, held: FhirAppointment): Promise<void> {
  await changeAppointment(ehr, held, { ...withHold(held, null), status: 'cancelled' });
  if (form.makesSlots) await removeSlots(ehr, held);
}

/** Argonaut's servers say in `Expires` when a hold ends, in whole seconds. A moment in the past only forbids to cache. */
function endsBefore({ expires }: WriteAnswer, until: Date | null, now: Date): boolean {
  if (expires === undefined || until === null || expires <= now) return false;
  return expires.getTime() + 1000 < until.getTime();
}

/** With what is ours to say beside the time: for whom, why, until when it is held, and by which write. */
export function withOurs({ dialect }: FhirConnection, theirs: FhirAppointment, ours: FhirAppointment): FhirAppointment {
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
