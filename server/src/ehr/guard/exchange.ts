import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import type { EhrRequest, EhrResponse, EhrStream, StreamedBody } from '@crossward/connector-kit';
import type { Dispatcher } from 'undici';
import { addressOf, clientCertificateRejected } from '../../log/connection-fault.ts';
import { traceHeaders } from '../../telemetry/tracing.ts';

/** Bytes that wait for the reader. With more, the connection is paused. */
const mostQueued = 256 * 1024;

interface Limits {
  /** With a streamed body: time without progress. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
  /** Maximum size of the body of the response. */
  readonly maxBytes: number;
  /** Asked right before the first byte is written. Otherwise nothing is sent. */
  readonly mayBegin: () => boolean;
}

/** The turn of a write was over before it was sent. */
export const turnOver = 'EHR_TURN_OVER';
const tooLarge = 'UND_ERR_RES_EXCEEDED_MAX_SIZE';
const timedOut = 'EHR_REQUEST_TIMEOUT';
const timeOuts: readonly string[] = [timedOut, 'UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT', 'ETIMEDOUT'];

const ofAnother = 'EHR_RESPONSE_OF_ANOTHER_REQUEST';

/** A request without a response. Holds no text from undici's error, which can contain the URL. */
export class ExchangeFailure extends Error {
  /** Error code of the system, TLS or undici, such as `ECONNREFUSED`. */
  readonly code: string;
  /** Host and port of the request. */
  readonly address: string;
  /** Whether any part of the request may have reached the EHR. */
  readonly sent: boolean;
  /** Whether the connection closed before the full response. False after a time-out. */
  readonly closed: boolean;

  constructor(code: string, address: string, sent: boolean) {
    super(`No response from the EHR: ${code}`);
    this.name = 'ExchangeFailure';
    this.code = code;
    this.address = address;
    this.sent = sent;
    this.closed = sent && !timeOuts.includes(code);
  }
}

/** The body of a request could not be read. Not a failure of the EHR. */
export class BodyFailure extends Error {}

/**
 * Sends a request once and reads the full response, within the time-out. Does not follow redirects.
 *
 * @throws ExchangeFailure, BodyFailure
 */
export async function exchange(
  dispatcher: Dispatcher,
  url: URL,
  request: EhrRequest,
  limits: Limits,
): Promise<EhrResponse> {
  const { status, headers, chunks } = await open(dispatcher, url, request, limits, 'whole response');
  const read: Uint8Array[] = [];
  for await (const chunk of chunks) read.push(chunk);
  return { status, headers, text: Buffer.concat(read).toString('utf8') };
}

/**
 * Like `exchange`, but returns when the head of the response has arrived, and the time-out ends there.
 *
 * @throws ExchangeFailure, BodyFailure; from `chunks`: ExchangeFailure
 */
export function openExchange(
  dispatcher: Dispatcher,
  url: URL,
  request: EhrRequest,
  limits: Limits,
): Promise<EhrStream> {
  return open(dispatcher, url, request, limits, 'head');
}

function open(
  dispatcher: Dispatcher,
  url: URL,
  request: EhrRequest,
  limits: Limits,
  timedPart: 'head' | 'whole response',
): Promise<EhrStream> {
  const { promise, resolve, reject } = Promise.withResolvers<EhrStream>();
  const requestId = `${requestIdPrefix}${randomUUID()}`;
  let controller: Dispatcher.DispatchController | undefined;
  let isOver = false;
  let received = 0;
  let bodyError: unknown;
  const body = new Readable({
    highWaterMark: mostQueued,
    read: () => controller?.resume(),
    destroy(error, done) {
      if (!isOver) abort(timedOut);
      done(error);
    },
  });
  // Its reader gets the error too, if there is one.
  body.on('error', () => undefined);

  function stopTimer(): void {
    clearTimeout(timer);
    limits.signal?.removeEventListener('abort', giveUp);
  }
  function fail(code: string): void {
    if (isOver) return;
    isOver = true;
    stopTimer();
    const failure = bodyError
      ? new BodyFailure('The body of a request to the EHR could not be read', { cause: bodyError })
      : new ExchangeFailure(code, addressOf(url), controller !== undefined && !clientCertificateRejected.test(code));
    reject(failure);
    body.destroy(failure);
  }
  function abort(code: string): void {
    fail(code);
    controller?.abort(new Error(code));
  }
  function giveUp(): void {
    abort(timedOut);
  }

  function progress(): void {
    if (isOver) return;
    clearTimeout(timer);
    timer = setTimeout(timeOut, limits.timeoutMs);
  }
  /** A process that has stood still first reads the answer that came meanwhile. */
  function timeOut(): void {
    setImmediate(giveUp);
  }

  let timer = setTimeout(timeOut, limits.timeoutMs);
  limits.signal?.addEventListener('abort', giveUp);
  dispatcher.dispatch(
    {
      origin: url.origin,
      path: `${url.pathname}${url.search}`,
      method: request.method,
      ...sent(request, requestId, {
        onProgress: progress,
        onError(error) {
          bodyError = error;
        },
      }),
    },
    {
      // undici calls this once it has a connection, before it writes the first byte.
      onRequestStart(started) {
        if (!isOver && !limits.mayBegin()) fail(turnOver);
        if (isOver) started.abort(new Error(timedOut));
        else controller = started;
      },
      onResponseStart(_controller, status, fields) {
        // Interim: the final response follows.
        if (status < 200) return;
        if (isOfAnother(requestId, fields)) return abort(ofAnother);
        if (timedPart === 'head') stopTimer();
        const headers = Object.fromEntries(
          Object.entries(fields).map(([name, value]) => [
            name,
            Array.isArray(value) ? value.join(', ') : (value ?? ''),
          ]),
        );
        resolve({ status, headers, chunks: chunksOf(body) });
      },
      onResponseData(responding, chunk) {
        received += chunk.length;
        if (received > limits.maxBytes) abort(tooLarge);
        else if (!isOver && !body.push(chunk)) responding.pause();
      },
      onResponseEnd() {
        if (isOver) return;
        isOver = true;
        stopTimer();
        body.push(null);
      },
      onResponseError(_controller, error) {
        fail(codeOf(error));
      },
    },
  );
  return promise;
}

/** Unlike the stream's own iterator, it ends the stream even if the reader leaves before its first read. */
function chunksOf(body: Readable): AsyncIterable<Uint8Array> {
  const iterator: AsyncIterator<Uint8Array> = body[Symbol.asyncIterator]();
  const chunks: AsyncIterableIterator<Uint8Array> = {
    next: () => iterator.next(),
    async return() {
      body.destroy();
      return { done: true, value: undefined };
    },
    [Symbol.asyncIterator]: () => chunks,
  };
  return chunks;
}

interface BodyEvents {
  /** A part has been read, or sent: undici reads the next one when the connection has taken the last one. */
  onProgress(): void;
  onError(error: unknown): void;
}

/** The headers and the body as undici takes them. */
function sent({ headers: given, body }: EhrRequest, requestId: string, { onProgress, onError }: BodyEvents) {
  const headers = { ...given, [requestIdHeader]: requestId, ...traceHeaders() };
  if (body === undefined || typeof body === 'string' || body instanceof Uint8Array) {
    return { headers, body: body ?? null };
  }
  async function* read({ read }: StreamedBody): AsyncGenerator<Uint8Array> {
    try {
      for await (const chunk of read()) {
        onProgress();
        yield chunk;
        onProgress();
      }
    } catch (error) {
      onError(error);
      throw error;
    }
  }
  const streamed = Readable.from(read(body), { objectMode: false });
  return { headers: { ...headers, 'content-length': String(body.size) }, body: streamed };
}

const requestIdHeader = 'x-request-id';
const requestIdPrefix = 'crossward-';

/**
 * Whether a response repeats the id of another request of a gateway: then a proxy or server has confused its responses, for
 * example by sending one too many on a connection that is kept alive. FHIR servers repeat the client's id, or send their own
 * and repeat the client's as `X-Correlation-Id`: https://hl7.org/fhir/R4/http.html#custom. A response from a cache, which has
 * an `Age` (RFC 9111 section 5.1), has the id of the request that filled the cache.
 */
function isOfAnother(requestId: string, fields: Readonly<Record<string, string | string[] | undefined>>): boolean {
  if (fields.age !== undefined) return false;
  return [fields[requestIdHeader], fields['x-correlation-id']]
    .flat()
    .some((it) => it?.startsWith(requestIdPrefix) && it !== requestId);
}

function codeOf(error: Error): string {
  return 'code' in error && typeof error.code === 'string' ? error.code : 'UNKNOWN';
}
