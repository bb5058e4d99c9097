import { isProblemDocument, type Reason } from './problem.ts';

/** When a call sends its request again. */
export interface RetryOptions {
  /** How many requests a call sends at most. Default: 4. 1: no retries. */
  readonly attempts?: number;
  /** The pause before the first retry, in milliseconds; it doubles each time. Default: 250. */
  readonly baseDelayMs?: number;
  /** The longest pause without `Retry-After`, in milliseconds. Default: 8,000. */
  readonly maxDelayMs?: number;
  /** Time limit of one request, in milliseconds. Default: 30,000. */
  readonly attemptTimeoutMs?: number;
}

const defaults = { attempts: 4, baseDelayMs: 250, maxDelayMs: 8_000, attemptTimeoutMs: 30_000 };

export function withDefaults(options: RetryOptions | false | undefined): Required<RetryOptions> {
  return options === false ? { ...defaults, attempts: 1 } : { ...defaults, ...options };
}

const temporary = new Set([429, 502, 503, 504]);
/** `retryable`, but only after somebody has done something else. */
const notSoon: ReadonlySet<Reason> = new Set(['patient_limit_reached', 'client_limit_reached']);

/** Whether the same request can succeed soon. */
export function isRetryable(status: number, body: unknown): boolean {
  if (!isProblemDocument(body)) return temporary.has(status);
  return body.retryable && !notSoon.has(body.reason);
}

/** The pause before the next request, in milliseconds: at least `Retry-After`, else exponential with jitter. */
export function pauseBefore(attempt: number, retryAfter: string | null, retry: Required<RetryOptions>): number {
  const ceiling = Math.min(retry.maxDelayMs, retry.baseDelayMs * 2 ** (attempt - 2));
  const backoff = ceiling * (0.5 + Math.random() / 2);
  return Math.max(backoff, retryAfterMs(retryAfter));
}

/** Reads `Retry-After`: seconds or a date (RFC 9110 section 10.2.3). */
function retryAfterMs(value: string | null): number {
  if (value === null) return 0;
  if (/^\d+$/.test(value)) return Number(value) * 1_000;
  const date = Date.parse(value);
  return Number.isNaN(date) ? 0 : Math.max(0, date - Date.now());
}
