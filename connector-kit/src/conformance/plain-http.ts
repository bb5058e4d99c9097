import { ConnectorError } from '../errors.ts';
import type { EhrHttp, EhrRequest, EhrResponse } from '../http.ts';

/** An HTTP client for tests. It can be cut off at any moment, as if its process were killed. */
export interface PlainHttp extends EhrHttp {
  /** Aborts all running requests and rejects later ones. */
  cut(): void;
}

/** Sends each request once, without retries, and maps failures to `ConnectorError`. For tests only. */
export function plainHttp(timeoutMilliseconds = 10_000): PlainHttp {
  const end = new AbortController();
  return {
    async send(request) {
      if (end.signal.aborted) throw new ConnectorError('unavailable', 'The connection was cut off');
      const signal = AbortSignal.any([end.signal, AbortSignal.timeout(timeoutMilliseconds)]);
      try {
        return await exchange(request, signal);
      } catch (cause) {
        if (isConnectionRefused(cause)) {
          throw new ConnectorError('unavailable', 'The EHR cannot be reached', { cause });
        }
        const silence = signal.aborted ? 'timeout' : 'connection_closed';
        throw new ConnectorError(request.repeatable ? silence : 'outcome_unknown', 'The EHR did not respond', {
          cause,
        });
      }
    },
    cut: () => end.abort(),
  };
}

async function exchange({ method, url, headers, body }: EhrRequest, signal: AbortSignal): Promise<EhrResponse> {
  const response = await fetch(url, {
    method,
    redirect: 'error',
    signal,
    ...(headers && { headers }),
    ...(body !== undefined && { body: typeof body === 'string' ? body : Buffer.from(body) }),
  });
  const text = await response.text();
  return { status: response.status, headers: Object.fromEntries(response.headers), text };
}

/** True if the request was never sent. */
function isConnectionRefused(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof Error && 'code' in cause && ['ECONNREFUSED', 'ENOTFOUND'].includes(String(cause.code));
}
