import type { Dropped, OpenWrite } from './operator.ts';

/** What happens to a write, for operators. */
export interface Advice {
  /** Whether an operator must act. */
  readonly needsOperator: boolean;
  readonly text: string;
}

export function adviceFor(write: OpenWrite): Advice {
  const { state, leaseExpiresAt, lastFailure, emr, reportedUnknown } = write;
  if (state === 'suspended') {
    const cause =
      lastFailure === 'emr_not_found'
        ? `${emr} is no longer in the configuration`
        : 'the background job failed too often; see the log';
    return { needsOperator: true, text: `The operation is suspended: ${cause}.` };
  }
  return { needsOperator: false, text: situation() };

  function situation(): string {
    if (leaseExpiresAt) return 'A gateway is working on the operation. No action is needed.';
    if (state === 'compensating') {
      return 'The EHR made some of the changes, and the gateway is compensating them. No action is needed while the EHR can be reached.';
    }
    if (state === 'monitored') {
      return 'The operation ended as not done. The gateway checks the EHR for late effects for one day. No action is needed.';
    }
    return reportedUnknown
      ? 'The caller got outcome_unknown, and the gateway is reconciling the operation with the EHR. No action is needed while the EHR can be reached.'
      : 'The operation was interrupted. A gateway continues it at the next attempt. No action is needed.';
  }
}

const failures = new Map([
  ['ehr_unavailable', 'the EHR was not available'],
  ['ehr_timeout', 'the EHR did not respond in time'],
  ['outcome_unknown', 'the EHR did not say what became of the write'],
  ['database_unavailable', 'the database was not available'],
  ['ehr_rejected', 'the EHR rejects the call'],
  ['emr_not_found', 'the configuration no longer has this EHR'],
  ['internal_error', 'the log has the cause'],
]);

/** The reason of a last failure, in words that follow a colon. */
export function writeFailureText(reason: string): string {
  return failures.get(reason) ?? reason.replaceAll('_', ' ');
}

export const dropWarning =
  'The gateway abandons a dropped operation: changes already made in the EHR remain and are neither completed nor ' +
  'compensated. Check the appointments in the EHR first.';

export const dropMessages: Record<Dropped, string> = {
  dropped:
    'The operation is dropped. Changes already made in the EHR remain. A code that it was confirming is pending again.',
  'being worked on': 'Nothing was changed: a gateway is working on this operation. Try again in a minute.',
  changed:
    'Nothing was changed: the operation has changed since you opened the page. Check the EHR again before you drop it.',
  'not found': 'No open operation has this id.',
};
