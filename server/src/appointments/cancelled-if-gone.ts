import type { Appointment, AppointmentChange } from '@crossward/connector-kit';
import { Problem } from '../problems/problem.ts';
import type { Work } from '../writes/write-kind.ts';
import type { ChangeStep } from './write/changes.ts';

type Change = Pick<AppointmentChange, 'kind'> & { readonly comment?: string | null | undefined };

/** An appointment that is gone, as it is now: cancelled. `undefined`: the EHR keeps cancelled ones, so nothing is known. */
export function cancelledIfGone(
  { ehr }: Pick<Work, 'ehr'>,
  change: Change,
  before: Appointment | undefined,
): Appointment | undefined {
  return before && ehr.capabilities.forgetsCancelled ? cancelled(change, before) : undefined;
}

/**
 * The appointment that was to be cancelled, and that somebody has cancelled or deleted since the plan was made: nothing is left
 * to do.
 *
 * @param error of the call; thrown if it says anything else
 * @param steps that the call was to make
 */
export function cancelledAnyway(error: unknown, [step, another]: readonly ChangeStep[]): Appointment {
  const isGone =
    error instanceof Problem && (error.reason === 'appointment_not_found' || error.reason === 'appointment_cancelled');
  if (!isGone || another || !step?.before) throw error;
  const { change, before } = step;
  if (change.kind !== 'cancel' && change.kind !== 'release') throw error;
  return cancelled(change, before);
}

function cancelled(change: Change, before: Appointment): Appointment {
  const comment = (change.kind === 'cancel' ? change.comment : undefined) ?? before.comment;
  return { ...before, state: 'cancelled', comment };
}
