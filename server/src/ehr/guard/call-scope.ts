import { AsyncLocalStorage } from 'node:async_hooks';

/** The connector call that a request to the EHR belongs to. */
export interface CallScope {
  /** Aborted when the call has run out of time: whatever it still sends would be done behind the caller's back. */
  readonly signal: AbortSignal;
  /** As `performance.now()` tells it. */
  readonly deadline: number;
}

export const callScope = new AsyncLocalStorage<CallScope>();
