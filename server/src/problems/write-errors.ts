import { type Fault, Problem } from './problem.ts';
import type { Reason } from './reasons.ts';

/** Another request has changed what a plan was made from, or is changing it. The caller's request plans again. */
export class OutdatedPlan extends Problem {
  /** @param retryAfterSeconds until the other request has ended, or can be taken over if its process has stopped */
  constructor(detail: string, retryAfterSeconds = 1) {
    super('idempotency_in_progress', { detail, headers: { 'retry-after': String(Math.max(retryAfterSeconds, 1)) } });
  }
}

/**
 * The EHR performed part of the write and it cannot be compensated: the EHR rejected the compensation, or somebody
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

const ofThisCall: readonly Reason[] = ['ehr_unavailable', 'ehr_paused', 'database_unavailable'];

/** Whether an error proves that neither this call nor an earlier one had an effect. An outage says nothing about earlier calls. */
export function isFinal(error: unknown): error is Problem {
  return isSettled(error) && !ofThisCall.includes(error.reason);
}

/** What the request would make is there already, as the body `cause`. Thrown while it is planned: nothing is made. */
export class AlreadyMade extends Error {
  declare readonly cause: object;
}

/** As a repeated request is answered. */
export function ifMade(error: unknown) {
  if (!(error instanceof AlreadyMade)) throw error;
  return { state: 'answered', outcome: { body: error.cause, headers: { 'idempotency-replayed': 'true' } } } as const;
}

/** The write's row is up to date. Only the problem has to be reported. */
export class WriteEnded extends Error {
  readonly problem: Error;

  constructor(problem: Error) {
    super(problem.message, { cause: problem });
    this.problem = problem;
  }
}
