import type { EhrRequest, EhrResponse } from '@crossward/connector-kit';
import type { Dispatcher } from 'undici';

interface Limits {
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
}

const timedOut = 'EHR_REQUEST_TIMEOUT';
const timeOuts: readonly string[] = [timedOut, 'UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT', 'ETIMEDOUT'];

/** A request without a response. Holds no text from undici's error, which can contain the URL. */
export class ExchangeFailure extends Error {
  /** Error code of the system, TLS or undici, such as `ECONNREFUSED`. */
  readonly code: string;
  /** Whether any part of the request may have reached the EHR. */
  readonly sent: boolean;
  /** Whether the connection closed before the full response. False after a time-out. */
  readonly closed: boolean;

  constructor(code: string, sent: boolean) {
    super(`No response from the EHR: ${code}`);
    this.name = 'ExchangeFailure';
    this.code = code;
    this.sent = sent;
    this.closed = sent && !timeOuts.includes(code);
  }
}

/**
 * Sends a request once and reads the full response. Does not follow redirects.
 *
 * @throws ExchangeFailure
 */
export function exchange(dispatcher: Dispatcher, url: URL, request: EhrRequest, limits: Limits): Promise<EhrResponse> {
  const { promise, resolve, reject } = Promise.withResolvers<EhrResponse>();
  let controller: Dispatcher.DispatchController | undefined;
  let isOver = false;
  let status = 0;
  let headers: EhrResponse['headers'] = {};
  const chunks: Buffer[] = [];

  function end(): boolean {
    if (isOver) return false;
    isOver = true;
    clearTimeout(timer);
    limits.signal?.removeEventListener('abort', giveUp);
    return true;
  }
  function fail(code: string): void {
    if (end()) reject(new ExchangeFailure(code, controller !== undefined));
  }
  function giveUp(): void {
    fail(timedOut);
    controller?.abort(new Error(timedOut));
  }

  const timer = setTimeout(giveUp, limits.timeoutMs);
  limits.signal?.addEventListener('abort', giveUp);
  dispatcher.dispatch(
    {
      origin: url.origin,
      path: `${url.pathname}${url.search}`,
      method: request.method,
      headers: { ...request.headers },
      body: request.body ?? null,
    },
    {
      // undici calls this once it has a connection, before it writes the first byte.
      onRequestStart(started) {
        if (isOver) started.abort(new Error(timedOut));
        else controller = started;
      },
      onResponseStart(_controller, statusCode, fields) {
        status = statusCode;
        headers = Object.fromEntries(
          Object.entries(fields).map(([name, value]) => [
            name,
            Array.isArray(value) ? value.join(', ') : (value ?? ''),
          ]),
        );
      },
      onResponseData(_controller, chunk) {
        chunks.push(chunk);
      },
      onResponseEnd() {
        if (end()) resolve({ status, headers, text: Buffer.concat(chunks).toString('utf8') });
      },
      onResponseError(_controller, error) {
        fail(codeOf(error));
      },
    },
  );
  return promise;
}

function codeOf(error: Error): string {
  return 'code' in error && typeof error.code === 'string' ? error.code : 'UNKNOWN';
}
