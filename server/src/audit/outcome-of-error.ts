import { isDatabaseFailure } from '../db/errors.ts';
import { LeaseLost } from '../db/operation-lease.ts';
import { OperationEnded } from '../problems/operation-errors.ts';
import { Problem } from '../problems/problem.ts';
import type { Reason } from '../problems/reasons.ts';

/** What an error of an operation means, for the audit trail and for operators. */
export function outcomeOfError(error: unknown): Reason {
  const cause = error instanceof OperationEnded ? error.problem : error;
  if (cause instanceof Problem) return cause.reason;
  // The process that has taken over the operation finds out.
  if (cause instanceof LeaseLost) return 'outcome_unknown';
  return isDatabaseFailure(cause) ? 'database_unavailable' : 'internal_error';
}
