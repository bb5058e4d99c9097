import { outcomeOfError } from '../audit/outcome-of-error.ts';
import type { AuditTrail } from '../audit/trail.ts';
import { type AuditedAccess, type CurrentAccess, newReached, within } from '../context/work-context.ts';

interface Recorded<Result> extends Pick<AuditedAccess, 'actor' | 'clientId' | 'operation' | 'emr' | 'careUnitId'> {
  /** Absent: the id of the write. */
  readonly requestId?: string;
  /** Records that are reached in any case. */
  readonly records?: readonly string[];
  /** @param left the outcome of the entry that the write has left */
  outcomeOf(result: Result, left: string | undefined): string;
  /** The entry could not be stored. What it throws fails the access, unless the work has failed already. */
  notStored(cause: unknown): void;
}

/**
 * Runs work that is no request of the API, and leaves an entry in the audit trail before its result is shown, unless the
 * statement that ended its write has left it. A background job that reaches no patient's records leaves none.
 */
export async function recordedAccess<Result>(
  audit: AuditTrail,
  { outcomeOf, notStored, records = [], ...about }: Recorded<Result>,
  work: () => Promise<Result>,
): Promise<Result> {
  const reached = newReached();
  const access: CurrentAccess = {
    describe: (outcome) => ({
      requestId: access.writeId ?? '',
      ...about,
      patients: reached.patients,
      records: [...records, ...reached.records],
      outcome,
      writeId: access.writeId,
    }),
  };
  const leave = async (outcome: string) => {
    const isIdle = about.actor === 'background' && (access.writeId === undefined || reached.patients.size === 0);
    if (access.recorded !== outcome && !isIdle) await audit.record(access.describe(outcome)).catch(notStored);
  };
  let result: Result;
  try {
    result = await within({ access, reached }, work);
  } catch (error) {
    await leave(outcomeOfError(error)).catch(() => undefined);
    throw error;
  }
  await leave(outcomeOf(result, access.recorded));
  return result;
}
