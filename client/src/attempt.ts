import { describeFailure } from './connection-failure.ts';
import type { ConnectionErrorKind } from './errors.ts';
import { isProblemDocument, type Problem } from './problem.ts';
import { isRetryable } from './retry.ts';
import { startTimeLimit } from './time-limit.ts';
import { TokenRejected } from './token-rejected.ts';

export type Fetch = (request: Request) => Promise<Response>;

/** What a call passes to each of its requests. */
export interface RequestInit {
  readonly headers: Record<string, string>;
  readonly signal: AbortSignal;
  readonly fetch: Fetch;
}

/** Sends a request. It is called once per attempt, so the body must be one that can be read again. */
export type Send<Data> = (
  init: RequestInit,
) => Promise<{ readonly data?: Data; readonly error?: unknown; readonly response: Response }>;

export interface Failure {
  readonly isRetryable: boolean;
  readonly retryAfter: string | null;
  /** The gateway's response. `undefined`: there is none, see `connection`. */
  readonly problem?: Problem;
  readonly connection: {
    readonly kind: ConnectionErrorKind;
    readonly message: string;
    readonly status?: number;
  };
  readonly cause?: unknown;
  /** Why there was no access token for the request. */
  readonly tokenRejected?: TokenRejected;
}

interface AttemptOptions {
  readonly fetch: Fetch;
  readonly headers: Record<string, string>;
  readonly signal: AbortSignal | undefined;
  readonly limitMs: number;
  /** Leaves the body to the caller: then the time limit ends with the headers. */
  readonly isStream: boolean;
}

export type Outcome<Data> = { readonly data: Data; readonly response: Response } | { readonly failure: Failure };

/**
 * Sends one request.
 *
 * @throws the reason of the caller's signal, or what `send` throws before it calls `fetch` (a wrong argument)
 */
export async function attempt<Data>(
  send: Send<Data>,
  { fetch, headers, signal, limitMs, isStream }: AttemptOptions,
): Promise<Outcome<Data>> {
  const limit = startTimeLimit(limitMs, signal);
  /** Set once a request is sent. */
  let origin: string | undefined;
  let isStreaming = false;
  const markedFetch: Fetch = (request) => {
    ({ origin } = new URL(request.url));
    return fetch(request);
  };
  try {
    const { data, error, response } = await send({ headers, signal: limit.signal, fetch: markedFetch });
    if (!response.ok) return { failure: rejection(origin, response, error) };
    isStreaming = isStream;
    // Every other response of the gateway has a body.
    if (data === undefined && !isStream && response.status !== 204)
      return { failure: unreadable(`The response of ${origin} is empty`, response.status) };
    return { data: data as Data, response };
  } catch (error) {
    if (signal?.aborted) throw signal.reason;
    if (error instanceof TokenRejected) return { failure: withoutToken(origin, error) };
    if (origin === undefined) throw error;
    return { failure: limit.hasExpired() ? timedOut(origin, error) : brokenOff(origin, error) };
  } finally {
    if (isStreaming) limit.stopClock();
    else limit.end();
  }
}

function rejection(origin: string | undefined, { status, headers }: Response, body: unknown): Failure {
  return {
    isRetryable: isRetryable(status, body),
    retryAfter: headers.get('retry-after'),
    ...(isProblemDocument(body) ? { problem: body } : {}),
    connection: {
      kind: 'unexpected_response',
      message: `${origin} responded with HTTP ${status}, without a problem document of the gateway`,
      status,
    },
  };
}

function withoutToken(origin: string | undefined, tokenRejected: TokenRejected): Failure {
  const message = `${origin} gave no access token`;
  const connection = { kind: 'unexpected_response', message } as const;
  return { isRetryable: false, retryAfter: null, tokenRejected, connection };
}

function timedOut(origin: string, cause: unknown): Failure {
  const connection = { kind: 'timeout', message: `${origin} did not respond within the time limit` } as const;
  return { isRetryable: true, retryAfter: null, connection, cause };
}

function brokenOff(origin: string, cause: unknown): Failure {
  // The error of `JSON.parse` quotes the response, which may hold data of a patient.
  if (cause instanceof SyntaxError) return unreadable(`The response of ${origin} is not JSON`);
  const connection = { kind: 'network', message: describeFailure(origin, cause) } as const;
  return { isRetryable: true, retryAfter: null, connection, cause };
}

function unreadable(message: string, status?: number): Failure {
  const connection = { kind: 'unexpected_response', message, ...(status === undefined ? {} : { status }) } as const;
  return { isRetryable: true, retryAfter: null, connection };
}
