import { ConnectorError, type ConnectorErrorKind } from './errors.ts';
import type { EhrRequest, EhrResponse } from './http.ts';

/** Whether a request can change something in the EHR. */
export function isWrite({ method, repeatable, writes }: EhrRequest): boolean {
  if (writes !== undefined) return writes;
  if (method === 'POST') return !repeatable;
  return method !== 'GET' && method !== 'HEAD';
}

/** A stream has no text yet. */
type Answer = Pick<EhrResponse, 'status' | 'headers'> & { readonly text?: string };

/**
 * Whether the answer to a write says that nothing was changed: a status of 400 to 499 or 501, or what the request itself says.
 * After 408 (time-out) nobody knows, and a redirect can follow a change.
 */
export function isRefusal({ refused }: EhrRequest, answer: Answer): boolean {
  const { status, text } = answer;
  if ((status >= 400 && status < 500 && status !== 408) || status === 501) return true;
  return text !== undefined && (refused?.({ ...answer, text }) ?? false);
}

/** One request. Exactly one of these is called when it is over. */
export interface SentRequest {
  /** @param mayBeDone whether an earlier attempt, which got no answer, may be done */
  answered(answer: Answer, mayBeDone?: boolean): void;
  /** It got no answer. @param mayBeDone whether the EHR may have done it */
  failed(mayBeDone: boolean): void;
}

/** What the requests of one call of the port may have changed. */
export interface SentWrites {
  /** Call it before each request. */
  sends(request: EhrRequest): SentRequest;
  /** The error of a call that writes. It is `outcome_unknown` in place of one that cannot say that nothing was changed. */
  errorOf(error: unknown): unknown;
}

/** Kinds that a failed read can have too, so that they say nothing about a write before it. */
const vagueKinds: readonly ConnectorErrorKind[] = [
  'unavailable',
  'timeout',
  'connection_closed',
  'rejected',
  'unsupported',
];

/**
 * Notes which requests of a call write, and were not refused. From the first one on, the call fails with `outcome_unknown`,
 * whatever the connector throws, unless it says `nothingChanged`, or throws what the answer to its only write means, before any
 * other request.
 */
export function createSentWrites(): SentWrites {
  /** Writes that were not refused. One that is on its way may be done. */
  let standing = 0;
  /** Whether the last thing that happened was an answer to a write. */
  let isAnswered = false;

  const none: SentRequest = { answered: () => undefined, failed: () => undefined };
  return {
    sends(request) {
      isAnswered = false;
      if (!isWrite(request)) return none;
      standing++;
      return {
        answered(answer, mayBeDone = false) {
          isAnswered = true;
          if (!mayBeDone && isRefusal(request, answer)) standing--;
        },
        failed(mayBeDone) {
          if (!mayBeDone) standing--;
        },
      };
    },
    errorOf(error) {
      if (standing === 0) return error;
      if (!(error instanceof ConnectorError)) return unknownAfterWrite(error, 'The connector failed after a write');
      if (error.kind === 'outcome_unknown' || error.nothingChanged) return error;
      if (standing === 1 && isAnswered && !vagueKinds.includes(error.kind)) return error;
      return unknownAfterWrite(error, `After a write: ${error.message}`);
    },
  };
}

function unknownAfterWrite(cause: unknown, message: string): ConnectorError {
  return new ConnectorError('outcome_unknown', message, { cause });
}
