import type { CareUnit } from './records.ts';

/**
 * Every write carries an operation id. The gateway creates it once and reuses it for retries. The connector stores it in
 * the EHR together with the change, atomically if the EHR can. A second call with the same id changes nothing and
 * returns the result of the first call.
 */
export interface Write {
  /** UUID. */
  readonly operationId: string;
  readonly careUnit: CareUnit;
  /**
   * Called by a connector that `repeatsLateWrites` when a request of the write got no response, even if the write succeeds
   * in the end: the EHR may still receive that request.
   */
  readonly onNoResponse?: (() => void) | undefined;
}

/**
 * The result of withdrawing what a write created.
 *
 * - `withdrawn`: it no longer shows in the EHR, or was never created
 * - `changed`: somebody has changed it since, and it was left as it is
 */
export type Withdrawal = 'withdrawn' | 'changed';
