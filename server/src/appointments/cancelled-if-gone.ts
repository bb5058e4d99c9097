import type { Appointment, AppointmentChange } from '@crossward/connector-kit';
import type { Work } from '../operations/kind.ts';

/** An appointment that is gone, as it is now: cancelled. `undefined`: the EHR keeps cancelled ones, so nothing is known. */
export function cancelledIfGone(
  { ehr }: Pick<Work, 'ehr'>,
  change: Pick<AppointmentChange, 'kind'> & { readonly comment?: string | null | undefined },
  before: Appointment | undefined,
): Appointment | undefined {
  if (!before || !ehr.capabilities.forgetsCancelled) return undefined;
  const comment = (change.kind === 'cancel' ? change.comment : undefined) ?? before.comment;
  return { ...before, state: 'cancelled', comment };
}
