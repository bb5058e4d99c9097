import { attempt, type Failure, type Fetch, type Send } from './attempt.ts';
import { ConnectionError, type CrosswardError, ProblemError, TokenError } from './errors.ts';
import { newIdempotencyKey } from './idempotency-key.ts';
import { pauseBefore, type RetryOptions, withDefaults } from './retry.ts';
import { pause } from './time-limit.ts';
import type { CallOptions, WriteOptions } from './types.ts';

/** How calls are retried and limited in time. */
export interface CallerOptions {
  /** Default: the global `fetch`. */
  readonly fetch?: Fetch;
  /** Time limit of a call with all its retries, in milliseconds. Default: 60,000. */
  readonly timeoutMs?: number;
  /** `false`: no retries. */
  readonly retry?: RetryOptions | false;
}

/** Sends requests until one succeeds, fails for good, or the limits are reached. */
export interface Caller {
  /** A request that changes nothing. */
  read<Data>(options: CallOptions | undefined, send: Send<Data>): Promise<Data>;
  /** A request that changes something: all attempts carry one `Idempotency-Key`. */
  write<Data>(options: WriteOptions | undefined, send: Send<Data>): Promise<Data>;
  /** A read that resolves to the response, whose body has not been read. */
  open(options: CallOptions | undefined, send: Send<unknown>): Promise<Response>;
}

export function createCaller(options: CallerOptions): Caller {
  const { fetch = globalThis.fetch, timeoutMs: defaultTimeoutMs = 60_000, retry: given } = options;
  const retry = withDefaults(given);

  async function call<Data>(
    { signal, timeoutMs = defaultTimeoutMs }: CallOptions,
    idempotencyKey: string | undefined,
    send: Send<Data>,
    isStream = false,
  ) {
    const deadline = performance.now() + timeoutMs;
    const headers = idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey };
    for (let attempts = 1; ; attempts += 1) {
      signal?.throwIfAborted();
      const limitMs = Math.min(retry.attemptTimeoutMs, deadline - performance.now());
      const outcome = await attempt(send, { fetch, headers, signal, limitMs, isStream });
      if (!('failure' in outcome)) return outcome;
      const { failure } = outcome;
      const pauseMs = pauseBefore(attempts + 1, failure.retryAfter, retry);
      if (!failure.isRetryable || attempts >= retry.attempts || performance.now() + pauseMs >= deadline) {
        throw errorFor(failure, { attempts, idempotencyKey });
      }
      await pause(pauseMs, signal);
    }
  }

  return {
    read: async (options = {}, send) => (await call(options, undefined, send)).data,
    async write(options = {}, send) {
      const { data, response } = await call(options, options.idempotencyKey ?? newIdempotencyKey(), send);
      if (response.headers.get('idempotency-replayed') === 'true') options.onReplay?.();
      return data;
    },
    open: async (options = {}, send) => (await call(options, undefined, send, true)).response,
  };
}

function errorFor(
  { problem, connection, cause, tokenRejected }: Failure,
  context: { attempts: number; idempotencyKey: string | undefined },
): CrosswardError {
  if (tokenRejected) return new TokenError(tokenRejected, context);
  return problem
    ? new ProblemError(problem, context)
    : new ConnectionError(connection, { ...context, ...(cause === undefined ? {} : { cause }) });
}
