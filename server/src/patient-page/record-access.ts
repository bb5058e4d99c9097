import type { RequestContext } from '../appointments/request-context.ts';
import { asAccess, type CurrentAccess } from '../audit/current-access.ts';
import type { PageConfirmation } from '../confirmations/find-page.ts';
import { nothingSeen, watching } from '../ehr/seen.ts';
import { outcomeOfError } from '../operations/outcome-of-error.ts';
import { unavailable } from '../problems/problem.ts';

/**
 * Runs an access to the appointments of a page, and records it in the audit trail before its result is shown. An action
 * that ends an operation leaves its entry with that.
 *
 * @param outcomeOf the outcome to record
 * @throws Problem `database_unavailable`
 */
export async function recordAccess<Result>(
  { confirmation, context }: { readonly confirmation: PageConfirmation; readonly context: RequestContext },
  { operation, requestId }: { readonly operation: string; readonly requestId: string },
  run: () => Promise<Result>,
  outcomeOf: (result: Result) => string,
): Promise<Result> {
  const { client, ehr, careUnit, services } = context;
  const seen = nothingSeen();
  const access: CurrentAccess = {
    describe: (outcome) => ({
      actor: 'patient_page',
      clientId: client.id,
      operation,
      emr: ehr.id,
      careUnitId: careUnit.id,
      patients: seen.patients,
      records: [...confirmation.items.map(({ id }) => id), ...seen.records],
      outcome,
      requestId,
      operationId: access.operationId,
    }),
  };
  const record = async (outcome: string) => {
    if (access.recorded !== outcome) await services.audit.record(access.describe(outcome));
  };
  let result: Result;
  try {
    result = await asAccess(access, () => watching(seen, run));
  } catch (error) {
    // The failure itself is reported.
    await record(outcomeOfError(error)).catch(() => undefined);
    throw error;
  }
  await record(outcomeOf(result)).catch((cause) => {
    throw unavailable('database_unavailable', { cause });
  });
  return result;
}
