import { type Reason, reasons } from './reasons.ts';

/** Where in a request something is: a JSON Pointer (RFC 6901) into the body, a path or query parameter, or a header. */
export type Place =
  | { readonly in: 'body'; readonly pointer: string }
  | { readonly in: 'path' | 'query'; readonly parameter: string }
  | { readonly in: 'header'; readonly header: string };

/** One entry of `errors`: what is wrong at which place. */
export interface Fault {
  readonly place?: Place | undefined;
  /** In bulk operations: the appointment at fault, where there is one. Never what was sent and is nobody's id. */
  readonly id?: string;
  readonly reason: Reason;
  readonly detail: string;
}

export interface ProblemOptions {
  /** A sentence about this very occurrence. No patient identifier, phone number, e-mail address, code or secret. */
  readonly detail?: string | undefined;
  readonly faults?: readonly Fault[];
  readonly headers?: Readonly<Record<string, string>>;
  /** Overrides the reason's own status. */
  readonly status?: number;
  /** Overrides what the reason says of the same call. */
  readonly retryable?: boolean;
  /** Members of the problem document beside those that every problem has. */
  readonly extensions?: { readonly attempts_remaining?: number };
  /** The request that the problem was first told to, where that is not the present one. */
  readonly requestId?: string;
  /** For the log, never for the caller. */
  readonly cause?: unknown;
}

/** Any answer that is not a success, whoever is at fault. Thrown anywhere, told in one place (RFC 9457). */
export class Problem extends Error {
  readonly reason: Reason;
  readonly status: number;
  readonly retryable: boolean;
  readonly detail: string;
  readonly faults: readonly Fault[];
  readonly headers: Readonly<Record<string, string>>;
  readonly extensions: NonNullable<ProblemOptions['extensions']>;
  readonly requestId: string | undefined;

  constructor(reason: Reason, options: ProblemOptions = {}) {
    super(reason, { cause: options.cause });
    this.name = 'Problem';
    this.reason = reason;
    this.status = options.status ?? reasons[reason].status;
    this.retryable = options.retryable ?? reasons[reason].retryable;
    this.detail = options.detail ?? reasons[reason].happened;
    this.faults = options.faults ?? [];
    this.headers = options.headers ?? {};
    this.extensions = options.extensions ?? {};
    this.requestId = options.requestId;
  }
}

/** A problem at one place. Whatever is named in a path and not found is 404; in a query, a body or a header, 400. */
export function problemAt(place: Place, reason: Reason, detail: string): Problem {
  const { status } = reasons[reason];
  return new Problem(reason, {
    detail,
    faults: [{ place, reason, detail }],
    status: status === 404 && place.in !== 'path' ? 400 : status,
  });
}

/** 503 with the seconds after which it is worth trying again. */
export function unavailable(
  reason: 'ehr_unavailable' | 'overloaded' | 'database_unavailable',
  options: { retryAfterSeconds?: number | undefined; detail?: string; cause?: unknown } = {},
): Problem {
  const { retryAfterSeconds = 5, ...rest } = options;
  return new Problem(reason, { ...rest, headers: { 'retry-after': String(Math.ceil(retryAfterSeconds)) } });
}

/** 400 with how often the person may still try. */
export function codeIncorrect(attemptsRemaining: number): Problem {
  return new Problem('confirmation_code_incorrect', {
    faults: [
      {
        place: { in: 'body', pointer: '/confirmation/code' },
        reason: 'confirmation_code_incorrect',
        detail: 'The code is not the one that was sent last.',
      },
    ],
    extensions: { attempts_remaining: attemptsRemaining },
  });
}

/** A problem as it is kept with an idempotency key, to be told again word for word. */
export interface KeptProblem {
  readonly reason: Reason;
  readonly status: number;
  readonly retryable: boolean;
  readonly detail: string;
  readonly faults: readonly Fault[];
  readonly headers: Readonly<Record<string, string>>;
  readonly extensions: NonNullable<ProblemOptions['extensions']>;
  /** Absent where nobody has been told yet. */
  readonly requestId?: string;
}

export function keptProblem(problem: Problem, requestId?: string): KeptProblem {
  const { reason, status, retryable, detail, faults, headers, extensions } = problem;
  const kept = { reason, status, retryable, detail, faults, headers, extensions };
  return requestId === undefined ? kept : { ...kept, requestId };
}

/** The problem as it was told first, with the id of the request that it was told to. */
export function problemFromKept({ reason, headers, ...options }: KeptProblem): Problem {
  return new Problem(reason, { ...options, headers: { ...headers, 'idempotency-replayed': 'true' } });
}
