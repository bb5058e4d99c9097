import type { Problem, Reason } from './problem.ts';

interface ErrorContext extends ErrorOptions {
  readonly attempts: number;
  readonly idempotencyKey: string | undefined;
}

/** What a call of the client throws, unless the caller aborted it or passed an invalid argument. */
export abstract class CrosswardError extends Error {
  /** Number of requests that were sent. */
  readonly attempts: number;
  /** The key of a write. Repeat the call with it to find out what happened; it never writes twice. */
  readonly idempotencyKey: string | undefined;

  protected constructor(message: string, { attempts, idempotencyKey, ...options }: ErrorContext) {
    super(message, options);
    this.attempts = attempts;
    this.idempotencyKey = idempotencyKey;
  }
}

/** The gateway responded with a problem document. `problem.reason` names the error. */
export class ProblemError extends CrosswardError {
  override readonly name = 'ProblemError';
  readonly problem: Problem;

  constructor(problem: Problem, context: ErrorContext) {
    super(`${problem.reason}: ${problem.detail}`, context);
    this.problem = problem;
  }
}

/** The gateway gave no access token: the private key, the clock or the registration of the client is wrong. */
export class TokenError extends CrosswardError {
  override readonly name = 'TokenError';
  /** The error of OAuth, such as `invalid_client` (RFC 6749, section 5.2), or `invalid_key`: `privateKey` cannot be used. */
  readonly code: string;

  constructor({ code, message }: { readonly code: string; readonly message: string }, context: ErrorContext) {
    super(`${code}: ${message}`, context);
    this.code = code;
  }
}

/**
 * - `network`: the connection failed
 * - `timeout`: the time limit expired
 * - `unexpected_response`: the response is not the gateway's, for example an error page of a proxy
 */
export type ConnectionErrorKind = 'network' | 'timeout' | 'unexpected_response';

/** There is no response of the gateway. After a write, it is unknown whether anything was done: see `idempotencyKey`. */
export class ConnectionError extends CrosswardError {
  override readonly name = 'ConnectionError';
  readonly kind: ConnectionErrorKind;
  /** HTTP status of an unexpected response. */
  readonly status: number | undefined;

  constructor(
    { kind, status, message }: { kind: ConnectionErrorKind; status?: number | undefined; message: string },
    context: ErrorContext,
  ) {
    super(message, context);
    this.kind = kind;
    this.status = status;
  }
}

/** Whether the gateway responded with a problem for one of these reasons. Without reasons: with any problem. */
export function isProblem<R extends Reason = Reason>(
  error: unknown,
  ...reasons: readonly R[]
): error is ProblemError & { readonly problem: Problem<R> } {
  if (!(error instanceof ProblemError)) return false;
  return reasons.length === 0 || (reasons as readonly Reason[]).includes(error.problem.reason);
}
