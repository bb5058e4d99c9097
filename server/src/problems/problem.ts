import { type Reason, type ReasonFacts, reasons } from './reasons.ts';

/** A place in a request: a JSON Pointer (RFC 6901) into the body, a path or query parameter, or a header. */
export type Place =
  | { readonly in: 'body'; readonly pointer: string }
  | { readonly in: 'path' | 'query'; readonly parameter: string }
  | { readonly in: 'header'; readonly header: string };

/** One entry of `errors`. */
export interface Fault {
  readonly place?: Place | undefined;
  /** Id of the appointment at fault, if it was found. Ids that match no appointment are not echoed. */
  readonly id?: string;
  readonly reason: Reason;
  readonly detail: string;
  /** What is wrong with the request, for a standard that tells it apart. */
  readonly flaw?: Flaw;
}

type FlawOfForm = 'structure' | 'required' | 'value' | 'invariant';
export type Flaw = FlawOfForm | 'business-rule' | 'not-supported' | 'multiple-matches';

export interface ProblemOptions {
  /** A sentence about this occurrence. Must not contain patient identifiers, contact details, codes or secrets. */
  readonly detail?: string | undefined;
  readonly faults?: readonly Fault[];
  readonly headers?: Readonly<Record<string, string>>;
  /** Overrides the status of the reason. */
  readonly status?: number;
  /** Overrides `retryable` of the reason. */
  readonly retryable?: boolean;
  /** Overrides the origin of the reason. */
  readonly origin?: ReasonFacts['origin'] | undefined;
  /** Additional members of the problem document. */
  readonly extensions?: { readonly attempts_remaining?: number };
  /** Id of the request that first got this problem, if it is being replayed. */
  readonly requestId?: string;
  /** For the log only. */
  readonly cause?: unknown;
}

/** An error response (RFC 9457). Thrown anywhere; the error handler turns it into a response. */
export class Problem extends Error {
  readonly reason: Reason;
  readonly status: number;
  readonly retryable: boolean;
  readonly origin: ReasonFacts['origin'];
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
    this.origin = options.origin ?? reasons[reason].origin;
    this.detail = options.detail ?? reasons[reason].happened;
    this.faults = options.faults ?? [];
    this.headers = options.headers ?? {};
    this.extensions = options.extensions ?? {};
    this.requestId = options.requestId;
  }
}

/** A problem at one place. Something not found is 404 if it is named in the path, otherwise 400. */
export function problemAt(place: Place, reason: Reason, detail: string): Problem {
  const { status } = reasons[reason];
  return new Problem(reason, {
    detail,
    faults: [{ place, reason, detail }],
    status: status === 404 && place.in !== 'path' ? 400 : status,
  });
}

/** 503 with a `Retry-After` header. */
export function unavailable(
  reason: 'ehr_unavailable' | 'ehr_paused' | 'overloaded' | 'database_unavailable',
  options: { retryAfterSeconds?: number | undefined; detail?: string; cause?: unknown } = {},
): Problem {
  const { retryAfterSeconds = 5, ...rest } = options;
  return new Problem(reason, { ...rest, headers: { 'retry-after': String(Math.ceil(retryAfterSeconds)) } });
}

/**
 * 504 `outcome_unknown` with origin `gateway`: the gateway's database did not say whether it stored the change. Nobody asked
 * the EHR, or its response is known.
 */
export function outcomeUnknownInDatabase(cause: unknown): Problem {
  return new Problem('outcome_unknown', {
    origin: 'gateway',
    detail: 'The database of the gateway did not say whether it has stored the change.',
    cause,
  });
}

/** 400 with the number of attempts left. */
export function codeIncorrect(attemptsRemaining: number): Problem {
  return new Problem('confirmation_code_incorrect', {
    faults: [
      {
        place: { in: 'body', pointer: '/confirmation/code' },
        reason: 'confirmation_code_incorrect',
        detail: 'The code is not the latest code that was sent.',
      },
    ],
    extensions: { attempts_remaining: attemptsRemaining },
  });
}

/** Number of appointments listed at most. */
const mostListed = 500;

/** 409 with the ids of the appointments in the way. */
export function scheduleHasAppointments(appointmentIds: readonly string[], cause?: unknown): Problem {
  const detail = 'This appointment takes a time slot that would be removed.';
  return new Problem('schedule_has_appointments', {
    detail: `Appointments that take time slots that would be removed: ${appointmentIds.length}.`,
    faults: appointmentIds.slice(0, mostListed).map((id) => ({ id, reason: 'schedule_has_appointments', detail })),
    cause,
  });
}

/** A problem as stored under an idempotency key, to be replayed. */
export interface KeptProblem {
  readonly reason: Reason;
  readonly status: number;
  readonly retryable: boolean;
  readonly detail: string;
  readonly faults: readonly Fault[];
  readonly headers: Readonly<Record<string, string>>;
  readonly extensions: NonNullable<ProblemOptions['extensions']>;
  /** Absent if it is that of the reason. */
  readonly origin?: ReasonFacts['origin'];
  /** Absent if no caller has got the problem yet. */
  readonly requestId?: string;
}

/** Converts a problem for storage. `requestId` is the request that got it. */
export function keptProblem(problem: Problem, requestId?: string): KeptProblem {
  const { reason, status, retryable, origin, detail, faults, headers, extensions } = problem;
  const ownOrigin = origin === reasons[reason].origin ? {} : { origin };
  const kept = { reason, status, retryable, detail, faults, headers, extensions, ...ownOrigin };
  return requestId === undefined ? kept : { ...kept, requestId };
}

/** Restores a stored problem for a replay, with the id of the request that first got it. */
export function problemFromKept({ reason, headers, ...options }: KeptProblem): Problem {
  return new Problem(reason, { ...options, headers: { ...headers, 'idempotency-replayed': 'true' } });
}
