import { AsyncLocalStorage } from 'node:async_hooks';
import { createSentWrites, type SentWrites } from '@crossward/connector-kit';

/** What a call has met. */
export interface CallFacts {
  /** Whether it has sent the EHR a request. */
  hasAskedEhr: boolean;
  /**
   * Whether the EHR has answered one. A call that ends well without was answered from memory, even if it has sent a request
   * to refresh that for later calls.
   */
  hasAnswer: boolean;
  /** The status of the last answer. */
  lastStatus: number | undefined;
  /** Whether it ended because the EHR limits the rate of requests. */
  wasThrottled: boolean;
  /** Whether it has ended with an error. A request that it waits for beside others may still be on its way. */
  hasFailed: boolean;
  /** What its requests may have changed. */
  readonly writes: SentWrites;
}

export function newFacts(): CallFacts {
  return {
    hasAskedEhr: false,
    hasAnswer: false,
    lastStatus: undefined,
    wasThrottled: false,
    hasFailed: false,
    writes: createSentWrites(),
  };
}

/** The connector call that an HTTP request to the EHR belongs to. */
export interface CallScope {
  /** Aborted when the call times out, so that it has no further effects in the EHR. */
  signal(): AbortSignal;
  /** In terms of `performance.now()`. */
  readonly begun: number;
  /** In terms of `performance.now()`. */
  deadline(): number;
  readonly facts: CallFacts;
  /** Runs `leave` when the call fails or times out, unless the returned function is called before. */
  onFailure(leave: () => void): () => void;
  /** Restarts the time-out of the call, because it is making progress. */
  progress(): void;
}

/** Creates the signal at its first use: a connector without HTTP requests, such as the sandbox, never uses it. */
export function lazyAbort(): { signal(): AbortSignal; abort(): void } {
  let controller: AbortController | undefined;
  let isAborted = false;
  return {
    signal() {
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

/**
 * The write with content that restarts the time-out of the current call with each part that is read: a connector reads the
 * next part when the EHR has taken the last one. Must be called within the call, because content may be read from elsewhere.
 */
export function withProgress<Content extends { readonly content: () => AsyncIterable<Uint8Array> }>(
  write: Content,
): Content {
  const scope = callScope.getStore();
  return {
    ...write,
    async *content() {
      for await (const chunk of write.content()) {
        scope?.progress();
        yield chunk;
      }
      scope?.progress();
    },
  };
}
