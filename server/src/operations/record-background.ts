import type { Logger } from 'pino';
import { asAccess, type CurrentAccess } from '../audit/current-access.ts';
import { nothingSeen, watching } from '../ehr/seen.ts';
import { describeError } from '../log/describe-error.ts';
import { outcomeOfError } from './outcome-of-error.ts';
import type { RecordedOutcome } from './record-end.ts';
import type { OperationServices } from './services.ts';
import type { Leased } from './stored-operation.ts';

interface Background<Result> extends Pick<Leased, 'clientId' | 'emr' | 'careUnitId'> {
  /** The name of the operation's kind. */
  readonly kind: string;
  readonly log: Logger;
  /** What a result means that did not end the operation. */
  outcomeOf?(result: Result): RecordedOutcome;
}

/**
 * Runs an operation without a caller, in the name of the client that started it. The statement that ends the operation leaves an
 * entry in the audit trail. If it has not ended, an entry is written afterwards if records of patients were reached. Nobody waits
 * for a response, so a failure to record that is logged.
 */
export async function recordedInBackground<Result>(
  { audit }: OperationServices,
  { clientId, emr, careUnitId, kind, log, outcomeOf = () => 'success' }: Background<Result>,
  run: () => Promise<Result>,
): Promise<Result> {
  const seen = nothingSeen();
  const access: CurrentAccess = {
    describe: (outcome) => ({
      actor: 'background',
      clientId,
      operation: kind,
      emr,
      careUnitId,
      patients: seen.patients,
      records: seen.records,
      outcome,
      requestId: access.operationId ?? '',
      operationId: access.operationId,
    }),
  };
  let outcome: RecordedOutcome | undefined;
  try {
    const result = await asAccess(access, () => watching(seen, run));
    outcome = outcomeOf(result);
    return result;
  } catch (error) {
    outcome = outcomeOfError(error);
    throw error;
  } finally {
    const { operationId, recorded } = access;
    if (operationId !== undefined && recorded === undefined && outcome !== undefined && seen.patients.size > 0) {
      await audit
        .record(access.describe(outcome))
        .catch((error) =>
          log.error({ operation_id: operationId, cause: describeError(error) }, 'audit entry not stored'),
        );
    }
  }
}
