import { ConnectorError } from '../errors.ts';
import type { EhrHttp, EhrRequest, EhrResponse } from '../http.ts';
import { watchedHttp } from './watched-calls.ts';

/** An HTTP client for tests. It can be cut off at any moment, as if its process were killed. */
export interface PlainHttp extends EhrHttp {
  /** Aborts all running requests and rejects later ones. */
  cut(): void;
}

/** Sends each request once, without retries, and maps failures to `ConnectorError`. For tests only. */
export function plainHttp(timeoutMilliseconds = 10_000): PlainHttp {
  const end = new AbortController();
  return watchedHttp({
    send: (request: EhrRequest) =>
      mapped(request, async (signal) => {
        const response = await exchange(request, signal);
        return { ...headOf(response), text: await response.text() };
      }),
    stream: (request: EhrRequest) =>
      mapped(request, async (signal) => {
        const response = await exchange(request, signal);
        return { ...headOf(response), chunks: response.body ?? noChunks() };
      }),
    cut: () => end.abort(),
  });

  async function mapped<Result>(
    { repeatable }: EhrRequest,
    run: (signal: AbortSignal) => Promise<Result>,
  ): Promise<Result> {
    if (end.signal.aborted) throw new ConnectorError('unavailable', 'The connection was cut off');
    const signal = AbortSignal.any([end.signal, AbortSignal.timeout(timeoutMilliseconds)]);
    try {
      return await run(signal);
    } catch (cause) {
      if (isConnectionRejected(cause)) {
        throw new ConnectorError('unavailable', 'The EHR cannot be reached', { cause });
      }
      const silence = signal.aborted ? 'timeout' : 'connection_closed';
      throw new ConnectorError(repeatable ? silence : 'outcome_unknown', 'The EHR did not respond', {
        cause,
      });
    }
  }
}

function exchange({ method, url, headers, body }: EhrRequest, signal: AbortSignal): Promise<Response> {
  return fetch(url, {
    method,
    redirect: 'error',
    signal,
    ...(headers && { headers }),
    ...(body !== undefined && bodyOf(body)),
  });
}

/** fetch sends a stream only with `duplex`: https://fetch.spec.whatwg.org/#dom-requestinit-duplex */
function bodyOf(body: NonNullable<EhrRequest['body']>): RequestInit {
  if (typeof body === 'string') return { body };
  if (body instanceof Uint8Array) return { body: Buffer.from(body) };
  return { body: ReadableStream.from(body.read()), duplex: 'half' } as RequestInit;
}

function headOf({ status, headers }: Response): Pick<EhrResponse, 'status' | 'headers'> {
  return { status, headers: Object.fromEntries(headers) };
}

async function* noChunks(): AsyncGenerator<Uint8Array> {}

/** True if the request was never sent. */
function isConnectionRejected(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof Error && 'code' in cause && ['ECONNREFUSED', 'ENOTFOUND'].includes(String(cause.code));
}
