import { AsyncLocalStorage } from 'node:async_hooks';

/** The connector call that an HTTP request to the EHR belongs to. */
export interface CallScope {
  /** Aborted when the call times out, so that it has no further effects in the EHR. */
  readonly signal: AbortSignal;
  /** In terms of `performance.now()`. */
  readonly deadline: number;
}

interface OpenScope extends CallScope {
  abort(): void;
}

/** Creates the signal at its first use: a connector without HTTP requests, such as the sandbox, never uses it. */
export function createCallScope(milliseconds: number): OpenScope {
  let controller: AbortController | undefined;
  let isAborted = false;
  return {
    deadline: performance.now() + milliseconds,
    get signal() {
      controller ??= new AbortController();
      if (isAborted) controller.abort();
      return controller.signal;
    },
    abort() {
      isAborted = true;
      controller?.abort();
    },
  };
}

export const callScope = new AsyncLocalStorage<CallScope>();
