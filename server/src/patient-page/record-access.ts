import type { RequestContext } from '../appointments/request-context.ts';
import type { PageConfirmation } from '../confirmations/find-page.ts';
import { nothingSeen, watching } from '../ehr/seen.ts';
import { outcomeOfError } from '../operations/outcome-of-error.ts';
import { unavailable } from '../problems/problem.ts';

/**
 * Runs an access to the appointments of a page, and records it in the audit trail before its result is shown.
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
  const record = (outcome: string) =>
    services.audit.record({
      actor: 'patient_page',
      clientId: client.id,
      operation,
      emr: ehr.id,
      careUnitId: careUnit.id,
      patients: seen.patients,
      records: [...confirmation.items.map(({ id }) => id), ...seen.records],
      outcome,
      requestId,
    });
  let result: Result;
  try {
    result = await watching(seen, run);
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
