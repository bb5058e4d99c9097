import { isDatabaseFailure } from '../db/errors.ts';
import { LeaseLost } from '../db/write-lease.ts';
import { Problem } from '../problems/problem.ts';
import type { Reason } from '../problems/reasons.ts';
import { WriteEnded } from '../problems/write-errors.ts';

/** What an error of a write means, for the audit trail and for operators. */
export function outcomeOfError(error: unknown): Reason {
  const cause = error instanceof WriteEnded ? error.problem : error;
  if (cause instanceof Problem) return cause.reason;
  // The process that has taken over the write finds out.
  if (cause instanceof LeaseLost) return 'outcome_unknown';
  return isDatabaseFailure(cause) ? 'database_unavailable' : 'internal_error';
}
