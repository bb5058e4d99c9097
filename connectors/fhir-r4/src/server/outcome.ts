import { ConnectorError, type ConnectorErrorKind, type EhrResponse } from '@crossward/connector-kit';
import type { Bundle, OperationOutcome } from '../fhir.ts';

/** https://hl7.org/fhir/R4/valueset-issue-type.html */
const unsupportedCodes = new Set(['not-supported']);
const absentCodes = new Set(['not-found', 'deleted']);
const throttledCodes = new Set(['throttled', 'transient', 'no-store', 'lock-error']);

/** An answer by which the EHR refuses a request, or says that it cannot serve it now. */
export class Refusal extends ConnectorError {
  readonly status: number;
  /** The code of its OperationOutcome. */
  readonly code: string | undefined;

  constructor(
    { status, code }: { readonly status: number; readonly code: string | undefined },
    kind: ConnectorErrorKind,
    message: string,
    options: ConstructorParameters<typeof ConnectorError>[2] = {},
  ) {
    super(kind, message, { ...options, refusal: { status, code } });
    this.status = status;
    this.code = code;
  }
}

/**
 * Whether the EHR may accept the same question in other words: it refused neither the client nor the address, and is not
 * busy.
 */
export function isRefusedQuestion(error: unknown): boolean {
  return error instanceof Refusal && isRejection(error) && ![401, 403, 404, 410].includes(error.status);
}

export function isOutcome(body: unknown): body is OperationOutcome {
  return (
    typeof body === 'object' && body !== null && 'resourceType' in body && body.resourceType === 'OperationOutcome'
  );
}

/** Some servers respond with 200 and an OperationOutcome that reports an error. */
export function hasFailed(outcome: OperationOutcome): boolean {
  return (outcome.issue ?? []).some(({ severity }) => severity === 'error' || severity === 'fatal');
}

/**
 * The error in the result of a search that has failed although its status is 200: an OperationOutcome among the matches, of the
 * mode `outcome` (https://hl7.org/fhir/R4/search.html#errors) or with nothing else beside it. Warnings are none.
 */
export function searchFailure(bundle: Bundle): OperationOutcome | undefined {
  const entries = Array.isArray(bundle.entry) ? bundle.entry : [];
  const isAlone = entries.every((it) => isOutcome(it?.resource));
  return entries
    .filter((it) => isAlone || it?.search?.mode === 'outcome')
    .map((it) => it?.resource)
    .find((it): it is OperationOutcome => isOutcome(it) && hasFailed(it));
}

/**
 * Converts a rejection to the port's errors. The message has the status, the issue's code and the type of resource or
 * the operation, and nothing else, because diagnostics and details may contain personal data.
 */
export function rejection(response: Pick<EhrResponse, 'status' | 'headers'>, body: unknown, what?: string): Refusal {
  const { status } = response;
  const code = issueCode(body);
  const answer = { status, code };
  const message = `The EHR responded with ${status}${code ? ` (${code})` : ''}${what ? ` for ${what}` : ''}`;
  if (status === 501 || status === 405 || (code && unsupportedCodes.has(code))) {
    return new Refusal(answer, 'unsupported', message);
  }
  if (status === 408) return new Refusal(answer, 'timeout', message);
  const busy = status === 429 || status === 502 || status === 503 || status === 504;
  if (busy || (status < 500 && code && throttledCodes.has(code))) {
    const seconds = Number(response.headers['retry-after']);
    return new Refusal(
      answer,
      'unavailable',
      message,
      Number.isFinite(seconds) && seconds > 0 ? { retryAfterSeconds: seconds } : {},
    );
  }
  // Nobody has looked for what was asked for.
  const isElsewhere = isPage(response) && (status === 404 || status === 410);
  return new Refusal(answer, 'rejected', message, isElsewhere ? { fault: true } : {});
}

/** A page of a proxy or of another server. Its status says nothing of a resource. */
function isPage({ headers }: Pick<EhrResponse, 'headers'>): boolean {
  return headers['content-type']?.startsWith('text/html') ?? false;
}

/**
 * Whether an answer says that the resource does not exist (any more). Some servers say it with 400, or with 200 and an
 * OperationOutcome.
 */
export function isAbsent(response: Pick<EhrResponse, 'status' | 'headers'>, body: unknown): boolean {
  const { status } = response;
  if (status === 404 || status === 410) return !isPage(response);
  const isAnswer = status === 200 || status === 400 || status === 422;
  return isAnswer && absentCodes.has(issueCode(body) ?? '');
}

/**
 * Whether an answer to a search says that nothing matches. FHIR wants an empty Bundle; some servers send 404, or another
 * status, with `not-found`.
 */
export function saysNothingMatches(error: unknown): boolean {
  return error instanceof Refusal && [200, 400, 404, 422].includes(error.status) && error.code === 'not-found';
}

/** `undefined` for anything that does not look like a code of the value set. */
function issueCode(body: unknown): string | undefined {
  if (!isOutcome(body)) return undefined;
  const code = body.issue?.find(({ severity }) => severity !== 'information')?.code;
  return typeof code === 'string' && /^[a-z-]{1,24}$/.test(code) ? code : undefined;
}

/** Whether the EHR rejected the request itself. Otherwise it may be unavailable. */
export function isRejection(error: unknown): boolean {
  return error instanceof ConnectorError && (error.kind === 'rejected' || error.kind === 'unsupported');
}
