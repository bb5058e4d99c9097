import { ConnectorError, type ConnectorErrorKind } from '@crossward/connector-kit';
import { outcomeUnknownInDatabase, Problem, scheduleHasAppointments, unavailable } from '../problems/problem.ts';
import type { Reason } from '../problems/reasons.ts';
import { isOfDatabase } from './guard/of-database.ts';
import { Paused } from './pauses.ts';
import { textForPeople } from './text-for-people.ts';

/** The reason for each kind of connector error. `*_not_found` is checked earlier, where the place is known. */
const reasonOf: Record<
  Exclude<ConnectorErrorKind, 'unavailable' | 'connection_closed' | 'schedule_has_appointments'>,
  Reason
> = {
  patient_not_found: 'patient_not_found',
  patient_inactive: 'patient_inactive',
  patient_ambiguous: 'patient_ambiguous',
  resource_not_found: 'resource_not_found',
  healthcare_service_not_found: 'healthcare_service_not_found',
  appointment_not_found: 'appointment_not_found',
  schedule_not_found: 'schedule_not_found',
  schedule_overlap: 'schedule_overlap',
  time_slot_unavailable: 'time_slot_unavailable',
  appointment_cancelled: 'appointment_cancelled',
  appointment_pending: 'appointment_awaiting_confirmation',
  appointment_started: 'appointment_started',
  change_not_allowed: 'change_not_allowed',
  appointment_not_held: 'confirmation_not_pending',
  unsupported: 'operation_unsupported',
  rejected: 'ehr_rejected',
  timeout: 'ehr_timeout',
  outcome_unknown: 'outcome_unknown',
};

/** Converts a `ConnectorError` to a problem. Other errors are bugs and are passed on. */
export function asProblem(error: unknown): unknown {
  if (!(error instanceof ConnectorError)) return error;
  if (error instanceof Paused) return ehrPaused(error);
  if (isOfDatabase(error)) {
    // A connector that has its EHR in the gateway's database.
    return error.kind === 'outcome_unknown'
      ? outcomeUnknownInDatabase(error)
      : unavailable('database_unavailable', { cause: error });
  }
  if (error.kind === 'unavailable') {
    return unavailable('ehr_unavailable', { retryAfterSeconds: error.retryAfterSeconds, cause: error });
  }
  if (error.kind === 'schedule_has_appointments') return scheduleHasAppointments(error.appointmentIds, error);
  if (error.kind === 'connection_closed') {
    const detail = 'The connection to the EHR closed before the response. Nothing was changed.';
    return new Problem('ehr_timeout', { detail, cause: error });
  }
  return new Problem(reasonOf[error.kind], { detail: publicDetailOf(error), cause: error });
}

/** What the EHR says to the person about the failure. `undefined`: nothing. */
export function publicDetailOf(error: unknown): string | undefined {
  return error instanceof ConnectorError ? textForPeople(error.publicDetail) : undefined;
}

/** 503 that says until when. */
function ehrPaused(cause: Paused): Problem {
  const { pause, retryAfterSeconds } = cause;
  const { until } = pause;
  const end = until ? `until ${until.toISOString()}` : 'until further notice';
  const detail = `The operators of the gateway have paused this EHR ${end}. Nothing was changed.`;
  return unavailable('ehr_paused', { retryAfterSeconds, detail, cause });
}
