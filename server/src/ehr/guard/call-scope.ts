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
function lazyAbort(): { signal(): AbortSignal; abort(): void } {
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

/**
 * Rejects with the error made by `late` on a time-out, and aborts the HTTP requests of the work.
 *
 * @param milliseconds time-out. It starts again when the work reports progress.
 * @param longest time-out of the whole work, in milliseconds, whatever progress it makes
 * @param facts filled while the work runs
 */
export function withinCallTime<Result>(
  milliseconds: number,
  work: () => Promise<Result>,
  late: () => Error,
  longest = milliseconds,
  facts: CallFacts = newFacts(),
): Promise<Result> {
  return new Promise<Result>((resolve, reject) => {
    const { signal, abort } = lazyAbort();
    const begun = performance.now();
    const end = begun + longest;
    let deadline = begun + milliseconds;
    let isOver = false;
    let timer = setTimeout(timeOut, milliseconds);
    const leaving = new Set<() => void>();

    function onFailure(leave: () => void): () => void {
      leaving.add(leave);
      return () => void leaving.delete(leave);
    }
    function fail(error: unknown): void {
      facts.hasFailed = true;
      reject(error);
      for (const leave of leaving) leave();
    }
    function timeOut(): void {
      isOver = true;
      fail(late());
      abort();
    }
    function progress(): void {
      if (isOver) return;
      deadline = Math.min(end, performance.now() + milliseconds);
      clearTimeout(timer);
      timer = setTimeout(timeOut, Math.max(0, deadline - performance.now()));
    }
    function ended(settle: () => void): void {
      isOver = true;
      clearTimeout(timer);
      settle();
    }

    callScope.run({ signal, begun, deadline: () => deadline, facts, progress, onFailure }, work).then(
      (result) => ended(() => resolve(result)),
      (error) => ended(() => fail(error)),
    );
  });
}
