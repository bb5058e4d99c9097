import { setTimeout as sleep } from 'node:timers/promises';
import { ConnectorError, type EhrHttp, type EhrRequest, type EhrResponse } from '@crossward/connector-kit';
import { Agent } from 'undici';
import { addressOf, connectionFault, faultText, statusText } from '../../log/connection-fault.ts';
import { type CallScope, callScope } from './call-scope.ts';
import { addressRejected, type ConnectSettings, createConnect } from './connect.ts';
import { BodyFailure, ExchangeFailure, exchange, openExchange, turnOver } from './exchange.ts';
import { provenTurns } from './held-turns.ts';
import { createPace, type Pace } from './pace.ts';
import { quotaSeconds, retryAfterSeconds } from './retry-after.ts';

export interface EhrHttpSettings extends ConnectSettings {
  /** Time-out of each attempt, including reading the response. It starts again when a part of a streamed body was sent. */
  readonly requestTimeoutMs: number;
  /** Maximum number of connections to each host. */
  readonly connections: number;
  readonly retries: number;
  readonly maxResponseBytes: number;
  /** Maximum rate of requests. Absent: none, until the EHR limits it. */
  readonly requestsPerSecond?: number | undefined;
}

/** What matters of a response for retries. */
type Head = Pick<EhrResponse, 'status' | 'headers'>;
type Attempt<Response> = (url: URL, limits: AttemptLimits) => Promise<Response>;
interface AttemptLimits {
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
  readonly mayBegin: () => boolean;
}
/** An attempt without a response, or with status 429, 502, 503 or 504. */
type Failure = Head | ExchangeFailure;

/** Bytes. A stream needs little memory, whatever its length. */
const longestStream = 100 * 1024 * 1024;

const shortestWaitMs = 200;
const longestWaitMs = 2000;
/** A longer `Retry-After` ends the retries of this call. */
const longestRetryAfterSeconds = 5;
/** An EHR that accepts nothing for this long, and responds with 503, is down. */
const longestBusyMs = 30_000;

/** HTTP client for one EHR. Requests sent within a connector call are aborted when the call ends. */
export function createEhrHttp(
  settings: EhrHttpSettings,
  pace: Pace = createPace({ fixedRate: settings.requestsPerSecond }),
): EhrHttp & {
  /** Whether the connector has sent no request with it. */
  isUnused(): boolean;
  close(): Promise<void>;
} {
  const agent = new Agent({
    connect: createConnect(settings),
    connections: settings.connections,
    allowH2: false,
    headersTimeout: settings.requestTimeoutMs,
    bodyTimeout: settings.requestTimeoutMs,
  });

  let isUsed = false;
  /** Since when the EHR has accepted nothing, and has responded with 503 and a short `Retry-After`. */
  let busySince: number | undefined;

  function limitsRate(outcome: Failure): boolean {
    if (isAnswer(outcome) || isTooMany(outcome)) busySince = undefined;
    if (isTooMany(outcome)) return true;
    if (!isBusy(outcome)) return false;
    const now = performance.now();
    busySince ??= now;
    return now - busySince < longestBusyMs;
  }

  /** Attempts until there is a response, or no further attempt is allowed. Notes what the request may have changed. */
  async function withRetries<Response extends Head>(
    request: EhrRequest,
    attempt: Attempt<Response>,
  ): Promise<Response> {
    const sent = callScope.getStore()?.facts.writes.sends(request);
    const doubt = { mayBeDone: false };
    const response = await untilAnswered(request, attempt, doubt).catch((error: unknown) => {
      sent?.failed(doubt.mayBeDone);
      throw error;
    });
    sent?.answered(response, doubt.mayBeDone);
    return response;
  }

  /** @param doubt set if an attempt without an answer may be done */
  async function untilAnswered<Response extends Head>(
    request: EhrRequest,
    attempt: Attempt<Response>,
    doubt: { mayBeDone: boolean },
  ): Promise<Response> {
    const url = parse(request.url);
    const scope = callScope.getStore();
    isUsed = true;
    let outcome: Response | ExchangeFailure | undefined;
    for (let sent = 1; ; ) {
      if (scope?.signal().aborted)
        throw failure(request, new ExchangeFailure('EHR_CALL_OVER', url.host, false), doubt.mayBeDone);
      await pace.turn(scope).catch((error: unknown) => {
        // A request that has left the queue because its call failed says nothing about the cause.
        if (scope && !scope.facts.hasFailed) scope.facts.wasThrottled = true;
        throw doubt.mayBeDone && outcome ? failure(request, outcome, doubt.mayBeDone) : error;
      });
      const mayBegin = await provenTurns(request, settings.requestTimeoutMs);
      if (scope) scope.facts.hasAskedEhr = true;
      const sentAt = performance.now();
      const limits = { timeoutMs: settings.requestTimeoutMs, signal: scope?.signal(), mayBegin };
      outcome = await attempt(url, limits).catch(asFailure);
      // The process has stood still since the proof. Another one tells whether it still has its turn.
      if (outcome instanceof ExchangeFailure && outcome.code === turnOver) continue;
      if (limitsRate(outcome)) {
        pace.throttled(sentAt, askedToWait(outcome));
        // The EHR has not processed it. Without a call, nothing else ends the attempts.
        if (canSendAgain(request) && (scope || sent++ <= settings.retries)) continue;
        if (scope) scope.facts.wasThrottled = true;
        throw failure(request, outcome, doubt.mayBeDone);
      }
      if (!(outcome instanceof ExchangeFailure || isBusy(outcome))) pace.accepted();
      if (isAnswer(outcome)) {
        if (scope) {
          scope.facts.hasAnswer = true;
          scope.facts.lastStatus = outcome.status;
        }
        return outcome;
      }
      doubt.mayBeDone ||= couldBeDone(request, outcome);
      const waitMs = sent <= settings.retries && mayRepeat(request, outcome) ? pause(outcome, sent) : undefined;
      if (waitMs === undefined || !(await waited(waitMs, scope))) throw failure(request, outcome, doubt.mayBeDone);
      sent++;
    }
  }

  return {
    send: (request) =>
      withRetries(request, (url, limits) =>
        exchange(agent, url, request, { ...limits, maxBytes: settings.maxResponseBytes }),
      ),
    async stream(request) {
      const { status, headers, chunks } = await withRetries(request, async (url, limits) => {
        const opened = await openExchange(agent, url, request, { ...limits, maxBytes: longestStream });
        // The body of a failure is of no use.
        if (isUnavailable(opened)) await opened.chunks[Symbol.asyncIterator]().return?.();
        return opened;
      });
      return { status, headers, chunks: withConnectorErrors(request, chunks) };
    },
    isUnused: () => !isUsed,
    close: () => agent.destroy(),
  };
}

function parse(text: string): URL {
  const url = URL.parse(text);
  if (!url || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '') {
    throw new Error('A connector requested a URL that is not HTTP or that contains credentials');
  }
  return url;
}

function isAnswer<Response extends Head>(outcome: Response | ExchangeFailure): outcome is Response {
  return !(outcome instanceof ExchangeFailure) && !isUnavailable(outcome);
}

function isUnavailable({ status }: Head): boolean {
  return [429, 502, 503, 504].includes(status);
}

/** The EHR limits the rate of requests. */
function isTooMany(outcome: Failure): boolean {
  return !(outcome instanceof ExchangeFailure) && outcome.status === 429;
}

/** The EHR limits the rate of requests, or is down: it says that for a short time. After a long one it is down. */
function isBusy(outcome: Failure): boolean {
  if (outcome instanceof ExchangeFailure) return false;
  const seconds = outcome.status === 503 ? askedToWait(outcome) : undefined;
  return seconds !== undefined && seconds <= longestRetryAfterSeconds;
}

/** A streamed body may not be there any more. */
function canSendAgain({ body, repeatable }: EhrRequest): boolean {
  return repeatable || body === undefined || typeof body === 'string' || body instanceof Uint8Array;
}

/** @throws Error for a bug in the connector, or if the body of the request cannot be read */
function asFailure(error: unknown): ExchangeFailure {
  if (error instanceof BodyFailure) throw error.cause;
  if (error instanceof ExchangeFailure && error.code !== 'UND_ERR_INVALID_ARG') return error;
  throw new Error('A connector made an invalid request');
}

/** Not a generator: one that was never read would not cancel the request. */
function withConnectorErrors(request: EhrRequest, chunks: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  const source = chunks[Symbol.asyncIterator]();
  const iterator: AsyncIterableIterator<Uint8Array> = {
    next: () =>
      source.next().catch((error: unknown) => {
        throw failure(request, asFailure(error), couldBeDone(request, asFailure(error)));
      }),
    return: async () => (await source.return?.()) ?? { done: true, value: undefined },
    [Symbol.asyncIterator]: () => iterator,
  };
  return iterator;
}

function isRead({ method }: EhrRequest): boolean {
  return method === 'GET' || method === 'HEAD';
}

/**
 * Whether the EHR may have processed a failed request. 502 and 504 come from a proxy that may have forwarded the
 * request; so can 503, unless it has a `Retry-After` header.
 */
function couldBeDone(request: EhrRequest, outcome: Failure): boolean {
  if (isRead(request)) return false;
  if (outcome instanceof ExchangeFailure) return outcome.sent;
  return outcome.status !== 429 && !(outcome.status === 503 && askedToWait(outcome) !== undefined);
}

function mayRepeat({ repeatable }: EhrRequest, outcome: Failure): boolean {
  if (!(outcome instanceof ExchangeFailure)) return repeatable;
  if (outcome.code === addressRejected || isTooLarge(outcome)) return false;
  return repeatable || !outcome.sent;
}

function isTooLarge(outcome: Failure): boolean {
  return outcome instanceof ExchangeFailure && outcome.code === 'UND_ERR_RES_EXCEEDED_MAX_SIZE';
}

function askedToWait(outcome: Failure): number | undefined {
  if (outcome instanceof ExchangeFailure) return undefined;
  const { 'retry-after': retryAfter, ratelimit } = outcome.headers;
  return retryAfterSeconds(retryAfter) ?? quotaSeconds(ratelimit);
}

/**
 * Milliseconds until the next attempt: exponential back-off with full jitter
 * (https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/), but at least the EHR's `Retry-After`.
 * Returns `undefined` if the EHR requests too long a wait.
 */
function pause(outcome: Failure, sent: number): number | undefined {
  const seconds = askedToWait(outcome) ?? 0;
  if (seconds > longestRetryAfterSeconds) return undefined;
  const bound = Math.min(longestWaitMs, shortestWaitMs * 2 ** (sent - 1));
  return Math.max(Math.random() * bound, seconds * 1000);
}

/** Returns `false` if the call would time out during the wait. */
async function waited(milliseconds: number, scope: CallScope | undefined): Promise<boolean> {
  if (!scope) return sleep(milliseconds, true);
  if (performance.now() + milliseconds >= scope.deadline()) return false;
  return sleep(milliseconds, true, { signal: scope.signal() }).catch(() => false);
}

function failure(request: EhrRequest, outcome: Failure, mayBeDone: boolean): ConnectorError {
  const cause = outcome instanceof ExchangeFailure ? outcome : undefined;
  const words = inWords(request, outcome);
  if (mayBeDone) {
    const kind = request.repeatable ? silentKind(cause) : 'outcome_unknown';
    return new ConnectorError(kind, `${words}; the EHR may have received the request`, { cause });
  }
  // A retry would get the same response, and the EHR is healthy.
  if (isTooLarge(outcome)) return new ConnectorError('rejected', words, { cause });
  if (cause?.sent) return new ConnectorError(silentKind(cause), words, { cause });
  const seconds = askedToWait(outcome);
  return new ConnectorError('unavailable', words, {
    cause,
    ...(seconds === undefined ? {} : { retryAfterSeconds: Math.max(1, seconds) }),
  });
}

/** In the words about an address to which the connection may not go: the settings that would allow it. */
export const addressAdvice = 'connection.allow_private_addresses and allow_plain_text';

/** Host and port alone: the path and query of a request can contain personal data. */
function inWords({ url }: EhrRequest, outcome: Failure): string {
  const address = addressOf(url);
  if (!(outcome instanceof ExchangeFailure)) return capitalised(statusText(outcome.status, address));
  const text = connectionFault(outcome)?.text ?? faultText('connection', address);
  return capitalised(outcome.code === addressRejected ? `${text} (see ${addressAdvice})` : text);
}

function capitalised(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function silentKind(cause: ExchangeFailure | undefined): 'timeout' | 'connection_closed' {
  return cause?.closed ? 'connection_closed' : 'timeout';
}
