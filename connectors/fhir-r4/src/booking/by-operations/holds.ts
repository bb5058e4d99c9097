import { ConnectorError } from '@crossward/connector-kit';
import { type FhirAppointment, localReference, type Participant, referenceTo } from '../../fhir.ts';
import { heldUntilOf, patientIdOf, withHold } from '../../mappers/appointment.ts';
import type { WriteResponse } from '../../server/client.ts';
import type { BookingConnection } from '../../server/connection.ts';
import { operationKeys } from '../operation-ids.ts';
import { changeAppointment, type PlannedAppointment } from '../write/appointment.ts';
import { afterWriting, isUnknown, LostRace, nothingChanged } from '../write/outcomes.ts';
import { settled } from '../write/settle.ts';
import { appointmentOf, call } from './calls.ts';
import { type OperationForm, wordsOf } from './form.ts';

/**
 * Holds the chosen time by `$hold`, then writes the patient and the end of the hold to the Appointment, because `$hold`
 * of IHE and Argonaut accepts neither. If the server will end the hold too early, releases it, because the patient
 * could not enter the code in time.
 */
export async function hold(
  ehr: BookingConnection,
  form: OperationForm,
  chosen: FhirAppointment,
  wanted: FhirAppointment,
): Promise<FhirAppointment> {
  if (!form.hold) throw new ConnectorError('unsupported', 'This EHR holds no times');
  const response = await call(ehr, form.hold.take(chosen));
  const held = await appointmentOf(ehr, response);
  try {
    if (endsBefore(response, heldUntilOf(wanted), ehr.client.clock.now())) {
      throw new ConnectorError('rejected', 'The EHR ends its holds before a code expires: set booking.hold to false');
    }
    const ours = withOurs(ehr, held, wanted);
    return ours === held ? held : await changeAppointment(ehr, held, ours);
  } catch (error) {
    const isUndone = await afterWriting(() => giveUp(ehr, form, held)).then(
      () => true,
      (failure: unknown) => {
        // A changed version means that the write above was done, although it failed.
        if (failure instanceof LostRace) return false;
        throw failure;
      },
    );
    throw isUndone && error instanceof ConnectorError && !isUnknown(error) ? nothingChanged(error) : error;
  }
}

/** Books a held appointment under its own id. After a rejection, reads the hold again to see whether it has ended. */
export async function confirm(
  ehr: BookingConnection,
  form: OperationForm,
  planned: PlannedAppointment,
  held: FhirAppointment,
): Promise<FhirAppointment> {
  const { hold: holds } = form;
  if (!holds) throw new ConnectorError('unsupported', 'This EHR holds no times');
  const words = wordsOf(planned.after, ehr.dialect);
  const isOpen = async () => (await ehr.client.read<FhirAppointment>(referenceTo(held)))?.status === held.status;
  return settled(
    ehr,
    planned,
    async () => appointmentOf(ehr, await call(ehr, await holds.confirm(ehr, held, words))),
    isOpen,
  );
}

/** Ends a hold, unless it has changed since it was read. */
export async function giveUp(ehr: BookingConnection, form: OperationForm, held: FhirAppointment): Promise<void> {
  await changeAppointment(ehr, held, { ...withHold(held, null), status: 'cancelled' });
  await form.afterCancel?.(ehr, held);
}

/** Argonaut: `Expires` says when the hold ends, in whole seconds. A time in the past only means "do not cache". */
function endsBefore({ expires }: WriteResponse, until: Date | null, now: Date): boolean {
  if (expires === undefined || until === null || expires <= now) return false;
  return expires.getTime() + 1000 < until.getTime();
}

/** Adds the patient, the comment, the end of the hold and the operation id to a proposed or held appointment. */
export function withOurs(
  { dialect }: BookingConnection,
  theirs: FhirAppointment,
  ours: FhirAppointment,
): FhirAppointment {
  const { commentField } = dialect;
  const isPatient = ({ actor }: Participant) => localReference(actor)?.startsWith('Patient/') === true;
  const comment = ours[commentField];
  const keys = operationKeys(theirs);
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
