import type { Logger } from 'pino';
import { nothingSeen, watching } from '../ehr/seen.ts';
import { describeError } from '../log/describe-error.ts';
import { outcomeOfError } from './outcome-of-error.ts';
import type { OperationServices } from './services.ts';
import type { Leased } from './stored-operation.ts';

/**
 * Runs an operation without a caller, and records it in the audit trail if it reached records of patients. Nobody waits for
 * a response, so a failure to record is logged.
 *
 * @param kind the name of the operation's kind
 */
export async function recordedInBackground<Result>(
  { audit }: OperationServices,
  { operation, kind, log }: { readonly operation: Leased; readonly kind: string; readonly log: Logger },
  run: () => Promise<Result>,
): Promise<Result> {
  const seen = nothingSeen();
  let outcome = 'success';
  try {
    return await watching(seen, run);
  } catch (error) {
    outcome = outcomeOfError(error);
    throw error;
  } finally {
    if (seen.patients.size > 0) {
      const { id, clientId, emr, careUnitId } = operation;
      await audit
        .record({
          actor: 'background',
          clientId,
          operation: kind,
          emr,
          careUnitId,
          patients: seen.patients,
          records: seen.records,
          outcome,
          requestId: id,
        })
        .catch((error) => log.error({ operation_id: id, cause: describeError(error) }, 'audit entry not stored'));
    }
  }
}
