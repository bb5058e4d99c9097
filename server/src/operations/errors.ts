import { type Fault, Problem } from '../problems/problem.ts';

/** Somebody else has taken the operation over. What it comes to is theirs to tell. */
export class LeaseLost extends Error {
  override readonly name = 'LeaseLost';
}

/**
 * The EHR has done some of it, and it cannot be taken back: it was refused, or somebody has changed it since. Kinds may
 * add what they know of it.
 */
export class PartiallyApplied extends Problem {
  constructor(faults: readonly Fault[]) {
    super('partially_applied', { faults });
  }
}

/** Whether an error says that the EHR has done nothing. A bug says nothing at all. */
export function isSettled(error: unknown): error is Problem {
  return error instanceof Problem && error.reason !== 'outcome_unknown' && error.reason !== 'ehr_timeout';
}

/**
 * Whether an error is the EHR's last word. `ehr_unavailable` is one only for whoever asked first: of an earlier call it
 * says nothing.
 */
export function isFinal(error: unknown): error is Problem {
  return isSettled(error) && error.reason !== 'ehr_unavailable';
}
