import { AsyncLocalStorage } from 'node:async_hooks';

/** The connector call that an HTTP request to the EHR belongs to. */
export interface CallScope {
  /** Aborted when the call times out, so that it has no further effects in the EHR. */
  readonly signal: AbortSignal;
  /** In terms of `performance.now()`. */
  readonly deadline: number;
}

export const callScope = new AsyncLocalStorage<CallScope>();
