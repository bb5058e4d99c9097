import type { BackgroundOutcome } from '../audit/access.ts';
import type { NewDraft } from '../audit/drafts.ts';
import { currentContext } from '../context/work-context.ts';
import type { Reason } from '../problems/reasons.ts';
import type { LeasedWork } from './work.ts';

export type RecordedOutcome = 'success' | Reason | BackgroundOutcome;

/**
 * The draft of the present access, for the statement that ends its write. Empty if the work leaves no entry.
 *
 * @param body of the response
 */
export function draftsOf(
  { services, leased, kind, plan }: LeasedWork,
  outcome: RecordedOutcome,
  body?: object,
): readonly NewDraft[] {
  const access = currentContext().access?.describe(outcome, body);
  if (!access) return [];
  const patients = [...access.patients, ...kind.patientsOf(plan).map((id) => `emr_id:${id}`)];
  // A background job that reached no patient's records leaves no entry.
  if (access.actor === 'background' && patients.length === 0) return [];
  return [services.audit.draft({ ...access, patients, writeId: leased.id })];
}

/** Notes that the transaction with the draft has committed, so that nobody records the same outcome again. */
export function noteRecorded(outcome: RecordedOutcome): void {
  const { access } = currentContext();
  if (access) access.recorded = outcome;
}
