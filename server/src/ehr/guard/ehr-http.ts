import { setTimeout as sleep } from 'node:timers/promises';
import { ConnectorError, type EhrHttp, type EhrRequest, type EhrResponse } from '@crossward/connector-kit';
import { Agent } from 'undici';
import { type CallScope, callScope } from './call-scope.ts';
import { addressRefused, type ConnectSettings, createConnect } from './connect.ts';
import { ExchangeFailure, exchange } from './exchange.ts';
import { quotaSeconds, retryAfterSeconds } from './retry-after.ts';

export interface EhrHttpSettings extends ConnectSettings {
  /** For each time that a request is sent, until the answer is read. */
  readonly requestTimeoutMs: number;
  /** To each host. */
  readonly connections: number;
  readonly retries: number;
  readonly maxResponseBytes: number;
}

/** An attempt that is not answered, or answered by 429, 502, 503 or 504. */
type Failure = EhrResponse | ExchangeFailure;

const shortestWaitMs = 200;
const longestWaitMs = 2000;
/** An EHR that asks for more is not asked again by this call. */
const longestRetryAfterSeconds = 5;

/** The way to one EHR over HTTP. What is sent within a connector call ends with it. */
export function createEhrHttp(settings: EhrHttpSettings): EhrHttp & { close(): Promise<void> } {
  const agent = new Agent({
    connect: createConnect(settings),
    connections: settings.connections,
    allowH2: false,
    headersTimeout: settings.requestTimeoutMs,
    bodyTimeout: settings.requestTimeoutMs,
    maxResponseSize: settings.maxResponseBytes,
  });

  async function attempt(
    url: URL,
    request: EhrRequest,
    scope: CallScope | undefined,
  ): Promise<EhrResponse | ExchangeFailure> {
    const limits = { timeoutMs: settings.requestTimeoutMs, signal: scope?.signal };
    try {
      return await exchange(agent, url, request, limits);
    } catch (error) {
      if (error instanceof ExchangeFailure && error.code !== 'UND_ERR_INVALID_ARG') return error;
      throw new Error('A connector made a request that cannot be sent');
    }
  }

  return {
    async send(request) {
      const url = parse(request.url);
      const scope = callScope.getStore();
      let mayBeDone = false;
      for (let sent = 1; ; sent++) {
        if (scope?.signal.aborted) throw failure(request, new ExchangeFailure('EHR_CALL_OVER', false), mayBeDone);
        const outcome = await attempt(url, request, scope);
        if (isAnswer(outcome)) return outcome;
        mayBeDone ||= couldBeDone(request, outcome);
        const waitMs = sent <= settings.retries && mayRepeat(request, outcome) ? pause(outcome, sent) : undefined;
        if (waitMs === undefined || !(await waited(waitMs, scope))) throw failure(request, outcome, mayBeDone);
      }
    },
    close: () => agent.destroy(),
  };
}

function parse(text: string): URL {
  const url = URL.parse(text);
  if (!url || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '') {
    throw new Error('A connector asked for a URL that is not one of HTTP, or that holds credentials');
  }
  return url;
}

function isAnswer(outcome: EhrResponse | ExchangeFailure): outcome is EhrResponse {
  return !(outcome instanceof ExchangeFailure) && ![429, 502, 503, 504].includes(outcome.status);
}

function isRead({ method }: EhrRequest): boolean {
  return method === 'GET' || method === 'HEAD';
}

/**
 * Whether the EHR may have done what it did not answer for. 502 and 504 come from something in between that may have
 * passed the request on; so does a 503, unless it says when to come back.
 */
function couldBeDone(request: EhrRequest, outcome: Failure): boolean {
  if (isRead(request)) return false;
  if (outcome instanceof ExchangeFailure) return outcome.sent;
  return outcome.status !== 429 && !(outcome.status === 503 && askedToWait(outcome) !== undefined);
}

function mayRepeat({ repeatable }: EhrRequest, outcome: Failure): boolean {
  if (!(outcome instanceof ExchangeFailure)) return repeatable;
  if (outcome.code === addressRefused || isTooLarge(outcome)) return false;
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
 * Milliseconds until the next attempt: at random up to a bound that doubles, so that many callers do not come back
 * together (https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/, "full jitter"), and no sooner than
 * the EHR asked for. `undefined`: it asked for longer than anybody will wait.
 */
function pause(outcome: Failure, sent: number): number | undefined {
  const seconds = askedToWait(outcome) ?? 0;
  if (seconds > longestRetryAfterSeconds) return undefined;
  const bound = Math.min(longestWaitMs, shortestWaitMs * 2 ** (sent - 1));
  return Math.max(Math.random() * bound, seconds * 1000);
}

/** `false` when the call would be over by then. */
async function waited(milliseconds: number, scope: CallScope | undefined): Promise<boolean> {
  if (!scope) return sleep(milliseconds, true);
  if (performance.now() + milliseconds >= scope.deadline) return false;
  return sleep(milliseconds, true, { signal: scope.signal }).catch(() => false);
}

function failure(request: EhrRequest, outcome: Failure, mayBeDone: boolean): ConnectorError {
  const cause = outcome instanceof ExchangeFailure ? outcome : undefined;
  if (mayBeDone) {
    const silence = cause?.closed
      ? 'The connection to the EHR closed before the response, and the EHR may have seen the request'
      : 'The EHR did not respond in time, and may have seen the request';
    return new ConnectorError(request.repeatable ? silentKind(cause) : 'outcome_unknown', silence, { cause });
  }
  // Asking again would be answered alike, and the EHR is well.
  if (isTooLarge(outcome)) return new ConnectorError('rejected', 'The answer of the EHR is too large', { cause });
  if (cause?.closed) {
    return new ConnectorError('connection_closed', 'The connection to the EHR closed before the response', { cause });
  }
  if (cause?.sent) return new ConnectorError('timeout', 'The EHR did not respond in time', { cause });
  if (cause?.code === addressRefused) {
    const words = 'The EHR has an address that this connection may not go to (see connection.allow_private_addresses)';
    return new ConnectorError('unavailable', words, { cause });
  }
  const seconds = askedToWait(outcome);
  return new ConnectorError('unavailable', 'The EHR cannot be reached or says that it is down', {
    cause,
    ...(seconds === undefined ? {} : { retryAfterSeconds: Math.max(1, seconds) }),
  });
}

function silentKind(cause: ExchangeFailure | undefined): 'timeout' | 'connection_closed' {
  return cause?.closed ? 'connection_closed' : 'timeout';
}
