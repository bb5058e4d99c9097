import { type Fault, Problem } from './problem.ts';

/** Another request has changed what a plan was made from, or is changing it. The caller's request plans again. */
export class OutdatedPlan extends Problem {
  /** @param retryAfterSeconds until the other request has ended, or can be taken over if its process has stopped */
  constructor(detail: string, retryAfterSeconds = 1) {
    super('idempotency_in_progress', { detail, headers: { 'retry-after': String(Math.max(retryAfterSeconds, 1)) } });
  }
}

/**
 * The EHR performed part of the operation and it cannot be compensated: the EHR rejected the compensation, or somebody
 * has changed the appointment since. Kinds may add details.
 */
export class PartiallyApplied extends Problem {
  constructor(faults: readonly Fault[]) {
    super('partially_applied', { faults });
  }
}

/** Whether an error proves that the EHR did nothing. An unexpected error proves nothing. */
export function isSettled(error: unknown): error is Problem {
  return error instanceof Problem && error.reason !== 'outcome_unknown' && error.reason !== 'ehr_timeout';
}

/**
 * Whether an error proves that neither this call nor an earlier one had an effect. `ehr_unavailable` and `ehr_paused` say
 * nothing about earlier calls.
 */
export function isFinal(error: unknown): error is Problem {
  return isSettled(error) && error.reason !== 'ehr_unavailable' && error.reason !== 'ehr_paused';
}

/** The operation's row is up to date. Only the problem has to be reported. */
export class OperationEnded extends Error {
  readonly problem: Error;

  constructor(problem: Error) {
    super(problem.message, { cause: problem });
    this.problem = problem;
  }
}
